// Package tabbed encodes rows as lines of values separated by tabs. This is the text format of PostgreSQL's COPY (its
// documentation, COPY, “Text Format”). LOAD DATA of MariaDB and MySQL reads it, too, given the tab and the
// backslash.
package tabbed

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"sync"

	"filewise"
)

// Rows holds all rows of a batch in memory, a few megabytes. Handing rows over while they are made would cost a switch
// between goroutines for each piece. It implements filewise.RowWriter.
type Rows struct {
	buf     []byte
	table   string
	columns int
	at      int // number of values in the row so far
	count   int64
	seen    byte // the bits of all bytes of texts, ORed
}

var spare = sync.Pool{New: func() any { return new(Rows) }}

// Of encodes the rows of a batch. The caller must call Free afterwards.
func Of(t filewise.TableData, batch int64) (*Rows, error) {
	r := spare.Get().(*Rows)
	*r = Rows{buf: r.buf[:0], table: t.Table, columns: len(t.Columns)}
	if err := t.Write(batch, r); err != nil {
		r.Free()
		return nil, err
	}
	return r, nil
}

// Free returns the memory for reuse. The rows and their readers must not be used afterwards.
func (r *Rows) Free() { spare.Put(r) }

// Reader returns a new reader of the rows from the first one on.
func (r *Rows) Reader() io.Reader { return bytes.NewReader(r.buf) }

// Count returns the number of rows.
func (r *Rows) Count() int64 { return r.count }

// ASCII reports whether all texts are ASCII, so that every character set encodes them the same way.
func (r *Rows) ASCII() bool { return r.seen < 0x80 }

func (r *Rows) next() {
	if r.at > 0 {
		r.buf = append(r.buf, '\t')
	}
	r.at++
}

// Int adds a whole number.
func (r *Rows) Int(v int64) {
	r.next()
	r.buf = strconv.AppendInt(r.buf, v, 10)
}

// Float adds a number in a form that is read back exactly.
func (r *Rows) Float(v float64) {
	r.next()
	r.buf = strconv.AppendFloat(r.buf, v, 'g', -1, 64)
}

// Null adds NULL.
func (r *Rows) Null() {
	r.next()
	r.buf = append(r.buf, '\\', 'N')
}

// escapes maps each byte that would end a value or begin an escape to the byte that replaces it after a backslash.
var escapes = [256]byte{'\t': 't', '\n': 'n', '\r': 'r', '\\': '\\', 0: '0'}

// Text adds a text.
func (r *Rows) Text(v []byte) {
	r.next()
	plain, seen := 0, r.seen
	for i, c := range v {
		seen |= c
		if e := escapes[c]; e != 0 {
			r.buf = append(append(r.buf, v[plain:i]...), '\\', e)
			plain = i + 1
		}
	}
	r.buf, r.seen = append(r.buf, v[plain:]...), seen
}

// EndRow ends a row. It returns an error if the row has more or fewer values than the table has columns, which is a bug
// of the workload.
func (r *Rows) EndRow() error {
	if r.at != r.columns {
		return fmt.Errorf("a row of table %s has %d values, expected %d", r.table, r.at, r.columns)
	}
	r.buf, r.at, r.count = append(r.buf, '\n'), 0, r.count+1
	return nil
}
