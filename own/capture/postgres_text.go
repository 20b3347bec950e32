package capture

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"filewise"
	"filewise/internal/filesystem"
)

// textLog reads what PostgreSQL writes to stderr or syslog: records that begin with log_line_prefix.
type textLog struct {
	*postgresLog
	pending  map[string]*entry // by session, until its details were read
	into     *string           // what the next lines continue. Nil means nothing that is needed
	more     []string          // lines that continue it
	bytes    int               // their length
	prefixes map[string]prefix // by their texts without times
	names    bool              // prefixes name databases
	outline  string            // of the last prefix's beginning
	unnamed  int               // records whose prefix names no process
	at       string            // when the present line was shipped
	last     string            // the last record's session
}

// prefix holds what log_line_prefix shows of a session.
type prefix struct {
	database, session string
	names             bool // it names a database
}

// mostPending and mostPrefixes limit the records and prefixes in memory.
const mostPending, mostPrefixes = 1000, 1 << 12

var (
	stamp = regexp.MustCompile(`(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d+)?)(?:Z| ?(?:[A-Z]{2,5}\b|[+-]\d\d:?\d{0,2}\b))?`)
	epoch = regexp.MustCompile(`\b(\d{10})\.(\d{3})\b`)
	// address matches the client's address and port, whose numbers are no process.
	address = regexp.MustCompile(`\d+\.\d+\.\d+\.\d+(?:[(:]\d+\)?)?|(?:[0-9a-f]{1,4}:){3,7}[0-9a-f]{0,4}|::[0-9a-f:]*|\(\d+\)`)
	// process lists what names a session, the clearest first.
	process = []*regexp.Regexp{regexp.MustCompile(`\b([0-9a-f]{6,8}\.[0-9a-f]{1,8})\b`), regexp.MustCompile(`\[(\d+)\]`),
		regexp.MustCompile(`(?i)\b(?:pid|proc|process|p)[=: ]+(\d+)`), regexp.MustCompile(`\[(\d+)-\d+\]`),
		regexp.MustCompile(`(?:^|[^\w/])(\d{2,8})(?:$|[^\w/])`), regexp.MustCompile(`\b(\d+)/\d+\b`)}
	databases = []*regexp.Regexp{regexp.MustCompile(`(?i)\b(?:db|database|dbname|d)(?:=|: )"?([^\s,;:|"\]/>)]*)`),
		regexp.MustCompile(`[^\s@=,\[\]]@([^\s@:,;|\]/>)]*)`)}
	inPrefix = regexp.MustCompile(`[\p{L}\p{N}_$-]+`)
	// shipped matches what syslog, journald, containerd and docker put before a server's lines.
	shipped = regexp.MustCompile(`^(?:(?:<\d+>)?(?:\w{3} [ \d]\d \d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT\S+) \S+ [\w./@-]+?\[(\d+)\]: ?|` +
		`\d{4}-\d\d-\d\dT\S+ std(?:out|err) [FP] |[\w.-]+[-_]\d+ +\| )`)
	// piece matches the number that syslog's records have, and the number of a part of one.
	piece = regexp.MustCompile(`^\[\d+-(\d+)\] ?`)
)

// divided returns the parts of a record's first line.
func divided(line string) (before, level, message string, ok bool) {
	for at := 0; ; {
		n := strings.Index(line[at:], ":  ")
		if n < 0 {
			return "", "", "", false
		}
		at += n + 1
		word := strings.TrimRight(line[:at-1], " \u00a0") // French has a space before the colon
		begin := strings.LastIndexFunc(word, notInLevel)
		if begin >= 0 {
			_, size := utf8.DecodeRuneInString(word[begin:])
			begin += size
		}
		if kind := levels[word[max(begin, 0):]]; kind != "" {
			return word[:max(begin, 0)], kind, line[at+len("  "):], true
		}
	}
}

// texts reports whether a log's first lines are such text, and whether their prefixes name databases.
func (l *textLog) texts(head []byte) (is bool) {
	for line := range bytes.Lines(head) {
		before, _, _, ok := divided(shipped.ReplaceAllString(string(line), ""))
		if ok && len(before) < 1<<9 && !strings.ContainsAny(before, `"{`) {
			is = true
			p, _ := l.prefix(before)
			l.names = l.names || p.names
		}
	}
	return is
}

// prefix reads what stands before a record's level.
func (l *textLog) prefix(text string) (p prefix, at string) {
	for _, m := range stamp.FindAllStringSubmatch(text, -1) {
		at = max(at, m[1]) // the session may have begun at another one
		text = strings.Replace(text, m[0], " ", 1)
	}
	if m := epoch.FindStringSubmatch(text); m != nil && at == "" {
		ms, _ := strconv.ParseInt(m[1]+m[2], 10, 64) // they are digits
		at, text = time.UnixMilli(ms).UTC().Format("2006-01-02 15:04:05.000"), strings.Replace(text, m[0], " ", 1)
	}
	p, is := l.prefixes[text]
	if is {
		return p, at
	}
	for n, of := range databases {
		if m := of.FindStringSubmatch(text); m != nil && !(n > 0 && address.MatchString(m[1])) {
			p.database, p.names = m[1], true
			break
		}
	}
	rest := address.ReplaceAllString(text, " ")
	for _, of := range process {
		if m := of.FindStringSubmatch(rest); m != nil {
			p.session = m[1]
			break
		}
	}
	if !p.names && slices.Contains(inPrefix.FindAllString(rest, -1), l.database) {
		p.database, p.names = l.database, true
	}
	if len(l.prefixes) >= mostPrefixes {
		clear(l.prefixes)
	}
	l.prefixes[text] = p
	return p, at
}

// outlined returns the beginning of a line with letters and digits treated the same.
func outlined(line string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsDigit(r):
			return '0'
		case unicode.IsLetter(r):
			return 'a'
		}
		return r
	}, line[:min(len(line), 10)])
}

// lines takes the lines of a text that was shipped at a time.
func (l *textLog) lines(text, at string) {
	l.at = at
	for line := range strings.Lines(text) {
		l.line(line)
	}
}

// line takes a line of the log.
func (l *textLog) line(line string) {
	line = strings.TrimRight(line, "\r\n")
	session := ""
	if m := shipped.FindStringSubmatch(line); m != nil {
		line, session = line[len(m[0]):], m[1]
		if of := piece.FindStringSubmatch(line); of != nil && session != "" {
			if line = line[len(of[0]):]; of[1] != "1" {
				l.goesOn(strings.ReplaceAll(line, "#011", "\t"))
				return
			}
		}
	}
	before, level, message, ok := divided(line)
	if strings.HasPrefix(line, "\t") || !ok && (l.outline == "" || outlined(line) != l.outline) {
		l.goesOn(line)
		return
	}
	l.join()
	l.outline, l.bytes, l.into = outlined(line), len(line), nil
	if !ok {
		l.seen.Lines++
		return
	}
	part := level != "LOG" && level != failure
	p, at := l.prefix(before)
	if session == "" || p.session != "" {
		session = p.session
	}
	if before == "" && part {
		session = l.last
	}
	e := l.pending[session]
	if part {
		if e != nil && level == "DETAIL" {
			e.detail, l.into = message, &e.detail
		} else if e != nil && level == "CONTEXT" {
			e.context, l.into = message, &e.context
		}
		return
	}
	l.begin(p, session, at, level, message)
}

// begin begins a record.
func (l *textLog) begin(p prefix, session, at, level, message string) {
	if e := l.pending[session]; e != nil {
		l.take(*e)
	}
	if session == "" {
		l.unnamed++
	}
	if len(l.pending) > mostPending {
		l.rest()
	}
	at = strings.Replace(cmp.Or(at, l.at), ",", ".", 1)
	l.order.add(at)
	e := &entry{database: p.database, session: session, severity: level, message: message, at: at, text: true}
	if l.names = l.names || p.names; !l.names {
		e.database, e.earlier = l.postgresLog.database, true
	}
	l.pending[session], l.into, l.last = e, &e.message, session
}

// goesOn adds a line to the text before it.
func (l *textLog) goesOn(line string) {
	if l.into != nil {
		l.bytes += len(line)
		l.more = append(l.more, strings.TrimPrefix(line, "\t"))
	}
}

// join puts the lines of a text together.
func (l *textLog) join() {
	if len(l.more) > 0 {
		*l.into += "\n" + strings.Join(l.more, "\n")
		l.more = l.more[:0]
	}
}

// rest takes the records whose details were read.
func (l *textLog) rest() {
	l.join()
	for _, session := range slices.Sorted(maps.Keys(l.pending)) {
		l.take(*l.pending[session])
	}
	clear(l.pending)
	l.into = nil
}

// end takes the last records.
func (l *textLog) end() error {
	l.rest()
	if err := l.order.wrong(); err != nil {
		return err
	}
	if l.unnamed > 0 && l.unnamed == l.seen.Lines {
		return filewise.Errorf(filewise.CodeUsage, "have the server log with %p and %d in log_line_prefix, or by log_destination = csvlog",
			"the log's lines name no process: which statements stand in one transaction is not known")
	}
	return nil
}

func readText(in *bufio.Reader, l *textLog) error {
	for {
		line, err := filesystem.Line(in, l.bytes)
		if line != "" {
			l.line(line)
		}
		if errors.Is(err, io.EOF) {
			return l.end()
		}
		if err != nil {
			return err
		}
	}
}
