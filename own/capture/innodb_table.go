package capture

import (
	"bufio"
	"encoding/hex"
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"filewise"
	"filewise/engine/customsql"
	"filewise/internal/filesystem"
)

// Columns of mysql.general_log and mysql.slow_log; MariaDB's has one more.
var (
	generalColumns = []string{"event_time", "user_host", "thread_id", "server_id", "command_type", "argument"}
	slowColumns    = []string{"start_time", "user_host", "query_time", "lock_time", "rows_sent", "rows_examined", "db", "last_insert_id",
		"insert_id", "server_id", "sql_text", "thread_id", "rows_affected"}
	// tableRow matches the first two columns of either table.
	tableRow  = regexp.MustCompile(`^"?\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[.\d]*"?([,;\t])"?[^\s\[]*\[[^\]]*\] @ `)
	tableHead = regexp.MustCompile(`(?i)\b(?:event_time|start_time)\b.*([,;\t]).*\b(?:argument|sql_text)\b`)
)

// sortable is a form of times whose texts are in their order.
const sortable = "2006-01-02T15:04:05.000000000"

// shipped reads a log that is no file of the server's: records in JSON, or an export of a log's table. It returns false if
// the log is none.
func (l *innodbLog) shipped(in *bufio.Reader) (bool, error) {
	head, err := in.Peek(1 << 16)
	if len(head) == 0 {
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return false, err
	}
	first, _, _ := strings.Cut(string(head), "\n")
	if m := tableHead.FindStringSubmatch(first); m != nil && !strings.HasPrefix(first, "{") {
		return true, l.table(tableReader{Reader: in, comma: m[1][0], escapes: m[1] == "\t" || !strings.Contains(string(head), `""`) &&
			strings.Contains(string(head), `\"`)}, true)
	}
	if m := tableRow.FindStringSubmatch(first); m != nil {
		return true, l.table(tableReader{Reader: in, comma: m[1][0], escapes: !strings.Contains(string(head), `""`) ||
			strings.Contains(string(head), `\"`)}, false)
	}
	if head[0] != '{' && head[0] != '[' {
		return false, nil
	}
	if err := eachObject(in, l.object); err != nil {
		return true, wrongInnoDBLog(err)
	}
	l.end()
	if !l.known {
		return true, wrongInnoDBLog(errors.New("none of its records holds a line of one"))
	}
	return true, l.order.wrong()
}

// object reads a record that a cloud or a container's engine has wrapped.
func (l *innodbLog) object(raw []byte) error {
	w, err := unwrapped(raw)
	if err != nil {
		return err
	}
	for _, inner := range w.records() {
		if err := l.object(inner); err != nil {
			return err
		}
	}
	for line := range strings.Lines(w.slow() + w.text()) {
		l.seen.Lines++
		l.line(strings.TrimRight(line, "\r\n"))
	}
	if !l.at.IsZero() {
		l.order.add(l.at.UTC().Format(sortable))
	}
	return nil
}

// table reads the rows of an export. If named, its first row holds the names of columns.
func (l *innodbLog) table(r tableReader, named bool) error {
	var columns []string
	for n := 0; ; n++ {
		fields, err := r.row()
		if len(fields) == 0 || errors.Is(err, io.EOF) && len(fields) < len(columns) { // the last row is still being written
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return err
			}
			continue
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if n == 0 {
			if columns = columnsOf(fields, named); named {
				continue
			}
		}
		if l.seen.Lines++; !l.row(func(column string) string {
			if i := slices.IndexFunc(columns, func(c string) bool { return strings.Contains(c, column) }); i >= 0 && i < len(fields) {
				return fields[i]
			}
			return ""
		}) {
			l.each(filewise.LoggedStatement{Session: "damaged", Text: filewise.Unreadable})
		}
		l.order.add(l.at.UTC().Format(sortable))
	}
	return l.order.wrong()
}

// columnsOf returns the names of an export's columns.
func columnsOf(first []string, named bool) []string {
	switch {
	case named:
		for i := range first {
			first[i] = strings.ToLower(first[i])
		}
		return first
	case len(first) <= len(generalColumns):
		return generalColumns
	}
	return slowColumns
}

// row takes a row of an export. ok is false if it cannot be read.
func (l *innodbLog) row(column func(string) string) (ok bool) {
	at, command, text := column("event_time"), column("command_type"), column("argument")
	if l.slow = command == ""; l.slow {
		at, text = column("start_time"), column("sql_text")
	}
	if when := customsql.Moment(strings.TrimSuffix(at, "Z")); !when.IsZero() {
		l.at = when
	} else if l.slow {
		return false
	}
	if hexed, is := strings.CutPrefix(text, "0x"); is { // as mysql shows bytes
		if plain, err := hex.DecodeString(hexed); err == nil {
			text = string(plain)
		}
	}
	l.known, l.session = true, column("thread_id")
	if !l.slow {
		l.command(command, text)
		l.end()
		return true
	}
	if commands[text] {
		return true
	}
	l.current = column("db")
	l.named = l.current != ""
	l.seconds = clock(column("query_time"))
	l.text = append(l.text, text)
	l.end()
	return true
}

// clock reads a duration, such as 00:00:01.5, in seconds.
func clock(text string) (seconds float64) {
	for part := range strings.SplitSeq(text, ":") {
		n, _ := strconv.ParseFloat(part, 64) // 0 if it is no number
		seconds = 60*seconds + n
	}
	return seconds
}

// tableReader reads rows of an export. Within quotes, a quote is doubled, or has a backslash before it.
type tableReader struct {
	*bufio.Reader
	comma   byte
	escapes bool // backslashes stand before characters
}

// escaped holds what a letter behind a backslash means. Others stand for themselves with it.
var escaped = map[byte]string{'n': "\n", 't': "\t", 'r': "\r", '0': "\x00", '\\': `\`, '"': `"`, '\n': "\n", '\t': "\t", ',': ",", ';': ";"}

// row reads a row. At the end of the log it returns io.EOF, and the fields of a last row without a newline.
func (r tableReader) row() (fields []string, err error) {
	var field []byte
	size, quoted, began := 0, false, false
	for {
		c, err := r.ReadByte()
		if err != nil {
			if began {
				fields = append(fields, string(field))
			}
			return fields, err
		}
		if size++; size > filesystem.Longest {
			return nil, filesystem.ErrTooLong
		}
		switch {
		case r.escapes && c == '\\':
			next, err := r.ReadByte()
			if err != nil {
				return fields, err
			}
			if text, is := escaped[next]; is {
				field = append(field, text...)
			} else {
				field = append(field, c, next)
			}
		case c == '"' && !quoted && len(field) == 0:
			quoted = true
		case c == '"' && quoted:
			if next, _ := r.Peek(1); len(next) == 0 || next[0] != '"' {
				quoted = false
				continue
			}
			_, _ = r.Discard(1) // which was peeked at
			field = append(field, c)
		case c == r.comma && !quoted:
			fields, field = append(fields, string(field)), field[:0]
		case c == '\n' && !quoted:
			if !began {
				continue
			}
			return append(fields, strings.TrimSuffix(string(field), "\r")), nil
		default:
			field = append(field, c)
		}
		began = true
	}
}
