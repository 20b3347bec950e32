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
	csvTime, csvDatabase, csvSession, csvTag, csvSeverity, csvMessage, csvDetail, csvContext, csvColumns = 0, 2, 5, 7, 11, 13, 14, 18, 23
)

// readPostgresLog reads a log of any of the server's formats, also within the records of operators and clouds.
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
	l := &postgresLog{database: database, held: map[string]held{}, prepared: map[[2]string]string{}}
	l.each = l.seen.Of(each)
	l.seen.Remedy = "have the server log each statement, in English: lc_messages = 'C', log_min_duration_statement = 0, " +
		"log_destination = csvlog or jsonlog"
	lines := &textLog{postgresLog: l, pending: map[string]*entry{}, prefixes: map[string]prefix{}}
	if first, _ := in.Peek(1 << 16); lines.texts(first) {
		err = readText(in, lines)
	} else if c := head[0]; c == '{' || c == '[' || objects(in) {
		err = readJSON(in, lines)
	} else {
		err = readCSV(in, l)
	}
	if err != nil {
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
	d.order.add(e.at)
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

func readJSON(in *bufio.Reader, l *textLog) error {
	d := damage{postgresLog: l.postgresLog}
	if spread(in) {
		if err := eachObject(in, func(raw []byte) error { return l.recordOf(raw, d.take) }); err != nil {
			return wrongPostgresLog(err)
		}
		return l.end()
	}
	for ended := false; !ended; {
		text, err := filesystem.Line(in, 0)
		if ended = errors.Is(err, io.EOF); err != nil && !ended {
			return err
		}
		if text = strings.Trim(text, "[], \r\n\t\x00"); text == "" {
			continue
		}
		if e, flat := flatEntry(text); flat {
			d.take(e)
		} else if err := l.recordOf([]byte(text), d.take); err == nil {
			d.good, d.last = true, false
		} else if !ended || !d.good { // otherwise it is still being written
			if err := d.skip(err); err != nil {
				return err
			}
		}
	}
	return errors.Join(d.end(), l.end())
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
		d.take(entry{database: line[csvDatabase], session: line[csvSession], tag: line[csvTag], message: line[csvMessage],
			detail: line[csvDetail], at: line[csvTime], context: line[csvContext],
			severity: line[csvSeverity]})
	}
}

func wrongPostgresLog(err error) error {
	return filewise.Errorf(filewise.CodeUsage, "give a file that PostgreSQL has written with log_destination = "+
		"csvlog, jsonlog or stderr", "this is no log of PostgreSQL: %w", err)
}
