package external

import (
	"bufio"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"

	"filewise"
	"filewise/engine/innodb/dialect"
	"filewise/engine/internal/customsql"
	"filewise/engine/internal/dumpfile"
)

// generalLine is one of the general log: time, session, command, text. MariaDB leaves the
// time out where it is that of the line before; with one, any command is known.
var generalLine = regexp.MustCompile(`^(?:[^\t]*\t+ *(\d+) (Query|Execute|Connect|Init DB|Quit|Prepare|Close stmt|Reset stmt|Statistics|` +
	`Ping|Field List|Change user|Fetch|Binlog Dump|Kill|Debug|Long Data|Refresh|Set option|Processlist|Shutdown|Sleep|Create DB|Drop DB|` +
	`Time|Delayed insert|Table Dump|Connect Out|Register (?:Slave|Replica)|Daemon|Binlog Dump GTID|Reset Connection|Bulk execute|Clone|` +
	`Error)|(?:\d{6} [ \d]\d:\d\d:\d\d|\d{4}-\d\d-\d\dT\S+)\t+ *(\d+) ([A-Z][A-Za-z_ ]*))(?:\t(.*))?$`)

// A server's head, at a log's begin and wherever it has started or opened the log anew, has lines of three kinds.
var (
	headFirst = regexp.MustCompile(`(?:mysqld|mariadbd)\S*, Version: `)
	headNext  = regexp.MustCompile(`^(?:Tcp port: |TCP Port: |Time\s+Id\s+Command\s+Argument)`)
	// slowBegin begins the head of a slow log's statement: other lines with # may be comments of the one before.
	slowBegin = regexp.MustCompile(`^# (?:Time|User@Host|Thread_id|Query_time|administrator command): `)
	slowSet   = regexp.MustCompile(`^SET (?:\w+=\d+,)*timestamp=[\d.]+;`)
)

var (
	slowSession = regexp.MustCompile(`Id: +(\d+)|^# Thread_id: (\d+)`)
	slowSchema  = regexp.MustCompile(` Schema: (\S*)`)
	slowTime    = regexp.MustCompile(`^# Query_time: ([0-9.]+)`)
	connectedTo = regexp.MustCompile(`^\S+@\S* (?:as \S+ )?on (\S+)? ?using`)
	useDatabase = regexp.MustCompile("(?i)^use `?([^`;]+)`?;?$")
)

// ReadLog reads a general or a slow log, whichever it is.
func (d Engine) ReadLog(r io.Reader, database string, each func(filewise.LoggedStatement)) error {
	l := &log{wanted: database, databases: map[string]string{}}
	l.each = l.seen.Of(each)
	unpacked, err := dumpfile.Text(r)
	if err != nil {
		return wrongLog(err)
	}
	defer unpacked.Close()
	in := bufio.NewReaderSize(unpacked, 1<<16)
	for {
		line, err := dumpfile.Line(in, l.bytes)
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
	return wrongLog(errors.New("none of its lines is of one"))
}

func wrongLog(err error) error {
	return filewise.Errorf(filewise.CodeUsage, "give the file that general_log_file or slow_query_log_file names",
		"this is no general and no slow log: %w", err)
}

// log is what has been read of one.
type log struct {
	wanted    string
	each      func(filewise.LoggedStatement)
	databases map[string]string // of sessions
	session   string
	seconds   float64
	at        time.Time // of the last line that tells it
	text      []string  // lines of the statement
	bytes     int       // of these
	slow      bool      // the lines are of a slow log
	known     bool
	head      bool // the line before is of the server's head
	seen      customsql.Seen
	// current is the database of a slow log's statement, which is said where it changes; not told: not yet.
	current string
	told    bool
}

func (l *log) line(line string) {
	l.bytes += len(line)
	if headFirst.MatchString(line) && strings.HasSuffix(line, "started with:") || l.head && headNext.MatchString(line) {
		l.end()
		l.head = true
		return
	}
	l.head = false
	general := l.known && !l.slow
	ended := len(l.text) == 0 || strings.HasSuffix(l.text[len(l.text)-1], ";")
	if !general && (strings.HasPrefix(line, "# ") && ended || slowBegin.MatchString(line) || line == "#" && len(l.text) == 0) {
		l.slowHead(line)
		return
	}
	if m := generalLine.FindStringSubmatch(line); m != nil && !l.slow {
		l.end()
		if at := customsql.Moment(strings.TrimSpace(line[:strings.IndexByte(line, '\t')])); !at.IsZero() {
			l.at = at
		}
		l.known, l.session = true, m[1]+m[3]
		l.command(m[2]+m[4], m[5])
		return
	}
	switch {
	case len(l.text) > 0:
		l.text = append(l.text, line)
	case !l.slow || slowSet.MatchString(line):
	default:
		if m := useDatabase.FindStringSubmatch(line); m != nil {
			l.current, l.told = m[1], true
			return
		}
		l.text = append(l.text, line)
	}
}

func (l *log) slowHead(line string) {
	if len(l.text) > 0 {
		l.end()
	}
	if at, is := strings.CutPrefix(line, "# Time: "); is {
		l.at = customsql.Moment(strings.TrimSpace(at))
	}
	if m := slowSession.FindStringSubmatch(line); m != nil {
		l.session = m[1] + m[2]
	}
	if m := slowSchema.FindStringSubmatch(line); m != nil {
		l.current, l.told = m[1], true
	}
	if m := slowTime.FindStringSubmatch(line); m != nil {
		l.seconds, _ = strconv.ParseFloat(m[1], 64) // the expression has read a number
		l.slow, l.known = true, true
	}
}

// command takes a line of the general log.
func (l *log) command(what, text string) {
	switch what {
	case "Connect":
		l.left() // the server has started anew
		l.databases[l.session] = ""
		if m := connectedTo.FindStringSubmatch(text); m != nil {
			l.databases[l.session] = m[1]
		}
	case "Quit":
		l.left()
	case "Init DB":
		l.databases[l.session] = text
	case "Query", "Execute":
		if m := useDatabase.FindStringSubmatch(text); m != nil {
			l.databases[l.session] = m[1]
			return
		}
		l.text = append(l.text, text)
	}
}

// left tells that a session has ended.
func (l *log) left() {
	if of, known := l.databases[l.session]; known && of == l.wanted && l.seen.Told() {
		l.each(filewise.LoggedStatement{Session: l.session})
	}
}

// end tells the statement that has been read.
func (l *log) end() {
	text := strings.TrimSpace(strings.Join(l.text, "\n"))
	l.text, l.bytes = nil, 0
	database, told := l.databases[l.session]
	if l.slow {
		database, told = l.current, l.told
	}
	if text != "" && l.known {
		l.seen.Add(database)
	}
	if text != "" && l.known && (database == l.wanted || !told) {
		dialect.CustomRules.Logged(filewise.LoggedStatement{Session: l.session, Text: text, Seconds: l.seconds, Earlier: !told,
			Ended: l.at}, false, l.each)
	}
	l.seconds = 0
}
