package capture

import (
	"bufio"
	"cmp"
	"errors"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"filewise"
	"filewise/engine/customsql"
	"filewise/engine/innodb/dialect"
	"filewise/internal/filesystem"
)

// commands holds the general log's commands that are recognized without a time before them.
var commands = map[string]bool{}

func init() {
	for _, c := range strings.Split("Query|Execute|Connect|Init DB|Quit|Prepare|Close stmt|Reset stmt|Statistics|Ping|Field List|Change user|"+
		"Fetch|Binlog Dump|Kill|Debug|Long Data|Refresh|Set option|Processlist|Shutdown|Sleep|Create DB|Drop DB|Time|Delayed insert|"+
		"Table Dump|Connect Out|Register Slave|Register Replica|Daemon|Binlog Dump GTID|Reset Connection|Bulk execute|Clone|Error", "|") {
		commands[c] = true
	}
}

// timed matches a time, a tab and a command. After a time any command is recognized.
var timed = regexp.MustCompile(`^(?:\d{6} [ \d]\d:\d\d:\d\d|\d{4}-\d\d-\d\dT\S+)\t[A-Z][A-Za-z_ ]*$`)

// generalLine reads a line of the general log: time, session, command, text. MariaDB leaves the time out if
// the line before has the same.
func generalLine(line string) (at, session, command, text string, ok bool) {
	at, rest, ok := strings.Cut(line, "\t")
	if !ok {
		return
	}
	rest = strings.TrimLeft(strings.TrimLeft(rest, "\t"), " ")
	n := digits(rest)
	if n == 0 || n == len(rest) || rest[n] != ' ' {
		return at, "", "", "", false
	}
	command, text, _ = strings.Cut(rest[n+1:], "\t")
	return at, rest[:n], command, text, commands[command] || timed.MatchString(at+"\t"+command)
}

// digits returns how many digits a text begins with.
func digits(text string) (n int) {
	for n < len(text) && text[n] >= '0' && text[n] <= '9' {
		n++
	}
	return n
}

// A server writes a head of three kinds of lines at a log's beginning, and whenever it starts or reopens the log.
var (
	headFirst = regexp.MustCompile(`(?:mysqld|mariadbd)\S*, Version: `)
	headNext  = regexp.MustCompile(`^(?:Tcp port: |TCP Port: |Time\s+Id\s+Command\s+Argument)`)
	// slowBegin matches the beginning of a statement's head in a slow log. Other lines with # can be comments of the
	// statement before.
	slowBegin = regexp.MustCompile(`^# (?:Time|User@Host|Thread_id|Query_time|administrator command): `)
	slowSet   = regexp.MustCompile(`^SET (?:\w+=\d+,)*timestamp=([\d.]+);`)
)

var (
	connectedTo = regexp.MustCompile(`^\S+@\S* (?:as \S+ )?on (\S+)? ?using`)
	// inRoutine matches a statement within a function. MariaDB logs it next to the statement that calls the function.
	inRoutine = regexp.MustCompile(`\bNAME_CONST\('`)
	// sqlExecute matches SQL's own EXECUTE. The server writes another line after it, with the statement and its values.
	sqlExecute  = regexp.MustCompile(`(?i)^\s*EXECUTE\s`)
	useDatabase = regexp.MustCompile("(?i)^use `?([^`;]+)`?;?$")
)

// readInnoDBLog reads a general log, a slow log or MariaDB's audit log, and calls each for every statement of the database.
func readInnoDBLog(r io.Reader, database string, each func(filewise.LoggedStatement)) error {
	l := &innodbLog{wanted: database, databases: map[string]string{}, modes: map[string]*dialect.ANSI{}}
	l.each = l.seen.Of(each)
	unpacked, err := filesystem.Unpack(r)
	if err != nil {
		return wrongInnoDBLog(err)
	}
	defer unpacked.Close()
	in := bufio.NewReaderSize(unpacked, 1<<16)
	if is, err := l.shipped(in); is || err != nil {
		return cmp.Or(err, l.seen.None(database))
	}
	for {
		line, err := filesystem.Line(in, l.bytes)
		if line != "" {
			l.seen.Lines++
			l.line(strings.TrimRight(line, "\r\n"))
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
	}
	l.end()
	if l.known {
		return l.seen.None(database)
	}
	return wrongInnoDBLog(errors.New("no line of it is a record of such a log"))
}

func wrongInnoDBLog(err error) error {
	return filewise.Errorf(filewise.CodeUsage, "give the file that general_log_file, slow_query_log_file or server_audit_file_path "+
		"names, or an export of mysql.general_log or mysql.slow_log",
		"this is no general, slow or audit log: %w", err)
}

// innodbLog holds the state of reading one log of MariaDB or MySQL.
type innodbLog struct {
	wanted    string
	each      func(filewise.LoggedStatement)
	databases map[string]string // by session
	session   string
	seconds   float64
	at        time.Time // from the last line that has a time
	text      []string  // lines of the current statement
	bytes     int       // their length in bytes
	slow      bool      // the lines come from a slow log
	known     bool
	head      bool // the line before belongs to a server's head
	seen      customsql.Seen
	// current is the database of a slow log's statement. The log names it only when it changes.
	current string
	named   bool
	begun   bool // times are the beginnings of statements
	order   order
	modes   map[string]*dialect.ANSI // of sessions that have set their sql_mode
}

func (l *innodbLog) line(line string) {
	l.bytes += len(line)
	if strings.HasSuffix(line, "started with:") && headFirst.MatchString(line) || l.head && headNext.MatchString(line) {
		l.end()
		l.head = true
		return
	}
	l.head = false
	general := l.known && !l.slow
	ended := len(l.text) == 0 || strings.HasSuffix(l.text[len(l.text)-1], ";")
	if !general && strings.HasPrefix(line, "#") &&
		(strings.HasPrefix(line, "# ") && ended || slowBegin.MatchString(line) || line == "#" && len(l.text) == 0) {
		l.slowHead(line)
		return
	}
	if !l.slow {
		if l.audited(line) {
			return
		}
		if when, session, command, text, is := generalLine(line); is {
			l.end()
			if at := customsql.Moment(strings.TrimSpace(when)); !at.IsZero() {
				l.at = at
			}
			l.known, l.session = true, session
			l.command(command, text)
			return
		}
	}
	switch {
	case len(l.text) > 0:
		l.text = append(l.text, line)
	case !l.slow:
	case strings.HasPrefix(line, "SET ") && slowSet.MatchString(line):
		l.stamped(slowSet.FindStringSubmatch(line)[1])
	default:
		if name, is := used(line); is {
			l.current, l.named = name, true
			return
		}
		l.text = append(l.text, line)
	}
}

// stamped takes the time at which a statement began, in seconds, if the log has no finer one: MariaDB writes a line of the
// time only if its second is another one, and none at the beginning of a file.
func (l *innodbLog) stamped(text string) {
	const leastSecond = 1 << 20
	began, err := strconv.ParseFloat(text, 64)
	if err != nil || began < leastSecond || l.at.Nanosecond() != 0 && !l.begun {
		return
	}
	took := l.seconds
	if l.begun = true; !strings.Contains(text, ".") {
		took = math.Floor(took)
	}
	l.at = time.UnixMicro(int64((began + took) * 1e6)).UTC()
}

// used returns the database that a USE statement selects.
func used(text string) (name string, is bool) {
	if len(text) < 4 || text[3] != ' ' || !strings.EqualFold(text[:3], "use") {
		return "", false
	}
	if m := useDatabase.FindStringSubmatch(text); m != nil {
		return m[1], true
	}
	return "", false
}

func (l *innodbLog) slowHead(line string) {
	if len(l.text) > 0 {
		l.end()
	}
	if at, is := strings.CutPrefix(line, "# Time: "); is {
		l.at = customsql.Moment(strings.TrimSpace(at))
	}
	id, is := strings.CutPrefix(line, "# Thread_id: ")
	if !is {
		_, id, _ = strings.Cut(line, "Id: ")
	}
	if id = strings.TrimLeft(id, " "); digits(id) > 0 {
		l.session = id[:digits(id)]
	}
	if _, schema, is := strings.Cut(line, " Schema: "); is {
		l.current, _, _ = strings.Cut(schema, " ")
		l.named = true
	}
	if took, is := strings.CutPrefix(line, "# Query_time: "); is {
		took, _, _ = strings.Cut(took, " ")
		if seconds, err := strconv.ParseFloat(took, 64); err == nil {
			l.seconds, l.slow, l.known = seconds, true, true
		}
	}
}

// command handles a line of the general log.
func (l *innodbLog) command(what, text string) {
	switch what {
	case "Connect":
		l.left() // the server has started again
		l.databases[l.session] = ""
		if m := connectedTo.FindStringSubmatch(text); m != nil {
			l.databases[l.session] = m[1]
		}
	case "Quit":
		l.left()
	case "Init DB":
		l.databases[l.session] = text
	case "Query", "Execute":
		if name, is := used(text); is {
			l.databases[l.session] = name
			return
		}
		// Searching for a text is ten times as fast as for a regular expression.
		if what == "Query" && (ofTrigger(text) || sqlExecute.MatchString(text) ||
			strings.Contains(text, "NAME_CONST('") && inRoutine.MatchString(text)) {
			return
		}
		l.text = append(l.text, text)
	}
}

// ofTrigger reports whether a statement is one of a trigger's, which servers log after the statement that fires it: it
// reads NEW.x or OLD.x, and no table is called so.
func ofTrigger(text string) (is bool) {
	if !slices.ContainsFunc([]string{"NEW.", "OLD.", "new.", "old."}, func(row string) bool { return strings.Contains(text, row) }) {
		return false
	}
	all := slices.DeleteFunc(dialect.CustomRules.Tokens(text), func(t customsql.Token) bool { return t.Gap })
	for i, t := range all {
		name := strings.ToUpper(strings.Trim(t.Raw, "`"))
		if name != "NEW" && name != "OLD" || i > 0 && all[i-1].Text == "." {
			continue
		}
		if i+1 == len(all) || all[i+1].Text != "." {
			return false
		}
		is = true
	}
	return is
}

// left reports that a session has ended.
func (l *innodbLog) left() {
	delete(l.modes, l.session)
	if of, known := l.databases[l.session]; known && of == l.wanted && l.seen.Reported() {
		l.each(filewise.LoggedStatement{Session: l.session})
	}
}

// backticked returns a statement without the double quotes that names have under a session's sql_mode.
func (l *innodbLog) backticked(text string) string {
	mode := l.modes[l.session]
	if mode == nil {
		if len(text) < 4 || !strings.EqualFold(text[:4], "SET ") || !sqlMode.MatchString(text) && !strings.Contains(text, "ANSI") {
			return text
		}
		mode = &dialect.ANSI{}
		l.modes[l.session] = mode
	}
	return mode.Backticked(text)
}

// end passes on the statement that was read.
func (l *innodbLog) end() {
	text := strings.TrimSpace(strings.Join(l.text, "\n"))
	clear(l.text)
	l.text, l.bytes = l.text[:0], 0
	database, told := l.databases[l.session]
	if l.slow {
		database, told = l.current, l.named
	}
	if text != "" && l.known {
		l.seen.Add(database)
		text = l.backticked(text)
	}
	if text != "" && l.known && (database == l.wanted || !told) {
		l.each(filewise.LoggedStatement{Session: l.session, Text: text, Seconds: l.seconds, Earlier: !told, Ended: l.at})
	}
	l.seconds = 0
}
