package capturing

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"

	"filewise"
	"filewise/engine/internal/dumpfile"
)

// The columns of a csvlog line, which later releases only add to.
const (
	csvDatabase, csvSession, csvMessage, csvColumns = 2, 5, 13, 23
)

// logged begins a message that has a statement: log_statement, or
// log_min_duration_statement, or the execution of a prepared one.
var logged = regexp.MustCompile(`(?s)^(?:duration: ([0-9.]+) ms  )?(?:statement|execute [^:]*|fastpath[^:]*): (.*)$`)

// ReadLog reads a log of csvlog or jsonlog, whichever it is.
func ReadLog(r io.Reader, database string, each func(filewise.LoggedStatement)) error {
	in := bufio.NewReaderSize(r, 1<<16)
	head, err := in.Peek(1)
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return err
	}
	take := func(of, session, message string) {
		if m := logged.FindStringSubmatch(message); of == database && m != nil {
			ms, _ := strconv.ParseFloat(m[1], 64) // none: 0
			each(filewise.LoggedStatement{Session: session, Text: m[2], Seconds: ms / 1000})
		}
	}
	if bytes.Equal(head, []byte("{")) {
		return readJSON(in, take)
	}
	return readCSV(in, take)
}

func readJSON(in *bufio.Reader, take func(database, session, message string)) error {
	for ended := false; !ended; {
		text, err := dumpfile.Line(in, 0)
		if ended = errors.Is(err, io.EOF); err != nil && !ended {
			return err
		}
		var line struct{ Dbname, Session_id, Message string }
		if strings.TrimSpace(text) == "" {
			continue
		}
		if err := json.Unmarshal([]byte(text), &line); err == nil {
			take(line.Dbname, line.Session_id, line.Message)
		} else if !ended { // else it is being written
			return wrongLog(err)
		}
	}
	return nil
}

// record passes on so many bytes of one, which quotes that are not closed would make endless.
type record struct {
	io.Reader
	left int
}

func (r *record) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, dumpfile.ErrTooLong
	}
	n, err := r.Reader.Read(p)
	r.left -= n
	return n, err
}

func readCSV(in io.Reader, take func(database, session, message string)) error {
	bounded := &record{Reader: in}
	c := csv.NewReader(bounded)
	c.FieldsPerRecord, c.ReuseRecord = -1, true
	for {
		bounded.left = dumpfile.Longest
		line, err := c.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		var form *csv.ParseError
		switch {
		case errors.As(err, &form):
			return wrongLog(err)
		case err != nil:
			return err
		}
		if len(line) < csvColumns {
			return wrongLog(csv.ErrFieldCount)
		}
		take(line[csvDatabase], line[csvSession], line[csvMessage])
	}
}

func wrongLog(err error) error {
	return filewise.Errorf(filewise.CodeUsage, "give a file that PostgreSQL has written with log_destination = csvlog or jsonlog",
		"this is no csvlog or jsonlog: %w", err)
}
