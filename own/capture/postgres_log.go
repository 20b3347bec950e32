package capture

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"strings"

	"filewise"
	"filewise/internal/filesystem"
)

// Columns of a csvlog line. Later releases only add columns.
const (
	csvTime, csvDatabase, csvSession, csvTag, csvMessage, csvDetail, csvContext, csvColumns = 0, 2, 5, 7, 13, 14, 18, 23
)

// readPostgresLog reads a log in csvlog or jsonlog format, also within the records of CloudNativePG and Cloud SQL.
func readPostgresLog(r io.Reader, database string, each func(filewise.LoggedStatement)) error {
	text, err := filesystem.Unpack(r)
	if err != nil {
		return wrongPostgresLog(err)
	}
	defer text.Close()
	in := bufio.NewReaderSize(text, 1<<16)
	head, err := in.Peek(1) // of one byte at least if there is no error
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return err
	}
	l := &postgresLog{database: database, plans: map[string]filewise.LoggedStatement{}, prepared: map[[2]string]string{}}
	l.each = l.seen.Of(each)
	l.seen.Remedy = "have the server log in English, with each statement: lc_messages = 'C', log_min_duration_statement = 0, " +
		"log_destination = csvlog or jsonlog"
	read := readCSV
	if c := head[0]; c == '{' || c == '[' || objects(in) {
		read = readJSON
	}
	if err := read(in, l); err != nil {
		return err
	}
	l.end()
	return l.seen.None(database)
}

// objects reports whether the second line begins a JSON object: the first one of a log can be cut.
func objects(in *bufio.Reader) bool {
	head, _ := in.Peek(1 << 16)
	_, second, _ := bytes.Cut(head, []byte("\n"))
	return bytes.HasPrefix(second, []byte("{\"")) && bytes.HasSuffix(bytes.TrimSpace(head[:len(head)-len(second)]), []byte("}"))
}

// damage counts the places of a log that could not be read. A log that is cut, or glued of two, has a few.
type damage struct {
	*postgresLog
	good  bool  // a record was read
	first error // of a place that could not be read
	bad   int   // such records
	last  bool  // the record before could not be read, either
}

// mostBad is the number of lines after which a file without any record is no log.
const mostBad = 1000

// take passes on a record.
func (d *damage) take(e entry) {
	d.good, d.last = true, false
	d.postgresLog.take(e)
}

// skip goes on behind a place that could not be read. It returns an error if the file is no log.
func (d *damage) skip(err error) error {
	if d.first == nil {
		d.first = err
	}
	if d.bad++; !d.last {
		d.postgresLog.gaps++
	}
	if d.last = true; !d.good && d.bad > mostBad {
		return wrongPostgresLog(d.first)
	}
	return nil
}

// end returns an error if nothing could be read.
func (d *damage) end() error {
	if d.first != nil && !d.good {
		return wrongPostgresLog(d.first)
	}
	return nil
}

func readJSON(in io.Reader, l *postgresLog) error {
	lines := in.(*bufio.Reader) // readPostgresLog has made it
	d := damage{postgresLog: l}
	for ended := false; !ended; {
		text, err := filesystem.Line(lines, 0)
		if ended = errors.Is(err, io.EOF); err != nil && !ended {
			return err
		}
		if text = strings.Trim(text, "[], \r\n\t\x00"); text == "" {
			continue
		}
		if e, flat := flatEntry(text); flat {
			d.take(e)
		} else if e, err := entryOf([]byte(text)); err == nil {
			d.take(e)
		} else if !ended || !d.good { // otherwise it is still being written
			if err := d.skip(err); err != nil {
				return err
			}
		}
	}
	return d.end()
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
		return 0, filesystem.ErrTooLong
	}
	n, err := r.Reader.Read(p)
	r.left, r.bytes, r.ended = r.left-n, r.bytes+int64(n), errors.Is(err, io.EOF)
	return n, err
}

func readCSV(in io.Reader, l *postgresLog) error {
	bounded := &record{Reader: in}
	c := csv.NewReader(bounded)
	c.FieldsPerRecord, c.ReuseRecord = -1, true
	d := damage{postgresLog: l}
	for {
		bounded.left = filesystem.Longest
		line, err := c.Read()
		if errors.Is(err, io.EOF) {
			return d.end()
		}
		var form *csv.ParseError
		wrong := errors.As(err, &form)
		if err != nil && !wrong {
			return err
		}
		if wrong || len(line) < csvColumns {
			if d.good && bounded.ended && c.InputOffset() >= bounded.bytes {
				return nil // the last record is still being written
			}
			if err == nil {
				err = csv.ErrFieldCount
			}
			if err := d.skip(err); err != nil {
				return err
			}
			continue
		}
		d.take(entry{line[csvDatabase], line[csvSession], line[csvTag], line[csvMessage], line[csvDetail], line[csvTime],
			line[csvContext]})
	}
}

func wrongPostgresLog(err error) error {
	return filewise.Errorf(filewise.CodeUsage, "give a file that PostgreSQL has written with log_destination = csvlog or jsonlog",
		"this is no csvlog or jsonlog: %w", err)
}
