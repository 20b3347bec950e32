package capturing

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"strings"

	"filewise"
	"filewise/engine/internal/dumpfile"
)

// Columns of a csvlog line. Later releases only add columns.
const (
	csvTime, csvDatabase, csvSession, csvTag, csvMessage, csvDetail, csvContext, csvColumns = 0, 2, 5, 7, 13, 14, 18, 23
)

// ReadLog reads a log in csvlog or jsonlog format, also within the records of CloudNativePG and Cloud SQL.
func ReadLog(r io.Reader, database string, each func(filewise.LoggedStatement)) error {
	text, err := dumpfile.Text(r)
	if err != nil {
		return wrongLog(err)
	}
	defer text.Close()
	in := bufio.NewReaderSize(text, 1<<16)
	head, err := in.Peek(1)
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return err
	}
	l := &log{database: database, plans: map[string]filewise.LoggedStatement{}, prepared: map[[2]string]string{}}
	l.each = l.seen.Of(each)
	l.seen.Remedy = "have the server log in English, with each statement: lc_messages = 'C', log_min_duration_statement = 0, " +
		"log_destination = csvlog or jsonlog"
	read := readCSV
	if bytes.Equal(head, []byte("{")) {
		read = readJSON
	}
	if err := read(in, l.take); err != nil {
		return err
	}
	l.end()
	return l.seen.None(database)
}

func readJSON(in io.Reader, take func(entry)) error {
	lines := in.(*bufio.Reader) // ReadLog has made it
	for ended := false; !ended; {
		text, err := dumpfile.Line(lines, 0)
		if ended = errors.Is(err, io.EOF); err != nil && !ended {
			return err
		}
		if strings.TrimSpace(text) == "" {
			continue
		}
		if e, flat := flatEntry(text); flat {
			take(e)
		} else if e, err := entryOf([]byte(text)); err == nil {
			take(e)
		} else if !ended { // otherwise it is still being written
			return wrongLog(err)
		}
	}
	return nil
}

// record passes on the text of one record, up to a number of bytes. Without a limit, a quote that is not closed would
// make the record endless.
type record struct {
	io.Reader
	left  int
	bytes int64 // read so far
	ended bool  // no records follow
}

func (r *record) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, dumpfile.ErrTooLong
	}
	n, err := r.Reader.Read(p)
	r.left, r.bytes, r.ended = r.left-n, r.bytes+int64(n), errors.Is(err, io.EOF)
	return n, err
}

func readCSV(in io.Reader, take func(entry)) error {
	bounded := &record{Reader: in}
	c := csv.NewReader(bounded)
	c.FieldsPerRecord, c.ReuseRecord = -1, true
	for records := 0; ; records++ {
		bounded.left = dumpfile.Longest
		line, err := c.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		var form *csv.ParseError
		if bounded.ended && records > 0 && c.InputOffset() >= bounded.bytes && (errors.As(err, &form) || len(line) < csvColumns) {
			return nil // the last record is still being written
		}
		switch {
		case errors.As(err, &form):
			return wrongLog(err)
		case err != nil:
			return err
		}
		if len(line) < csvColumns {
			return wrongLog(csv.ErrFieldCount)
		}
		take(entry{line[csvDatabase], line[csvSession], line[csvTag], line[csvMessage], line[csvDetail], line[csvTime],
			line[csvContext]})
	}
}

func wrongLog(err error) error {
	return filewise.Errorf(filewise.CodeUsage, "give a file that PostgreSQL has written with log_destination = csvlog or jsonlog",
		"this is no csvlog or jsonlog: %w", err)
}
