// Package insertrows inserts the rows of a batch by statements of many rows, if a server
// takes them no faster way.
package insertrows

import (
	"fmt"
	"strings"

	"filewise"
)

// AtOnce is the number of rows of one statement; the engines take 32,766 parameters and more.
const AtOnce = 100

// Load inserts a batch into a table, which is given with its columns as INSERT INTO has it. Many
// executes the statement of AtOnce rows, which it can prepare, and rest the statement of the last ones.
func Load(t filewise.TableData, batch int64, into string, many, rest func(statement string, values []any) error) error {
	w := &writer{table: t.Table, into: into, columns: len(t.Columns), many: many}
	w.statement = w.of(AtOnce)
	if err := t.Write(batch, w); err != nil || len(w.values) == 0 {
		return err
	}
	return rest(w.of(len(w.values)/w.columns), w.values)
}

// writer collects rows. It implements filewise.RowWriter.
type writer struct {
	table, into string
	columns     int
	many        func(statement string, values []any) error
	statement   string // of AtOnce rows
	values      []any
}

func (w *writer) of(rows int) string {
	row := "(" + strings.TrimSuffix(strings.Repeat("?, ", w.columns), ", ") + ")"
	return "INSERT INTO " + w.into + " VALUES " + strings.TrimSuffix(strings.Repeat(row+", ", rows), ", ")
}

func (w *writer) Int(v int64)     { w.values = append(w.values, v) }
func (w *writer) Float(v float64) { w.values = append(w.values, v) }
func (w *writer) Null()           { w.values = append(w.values, nil) }

// Text adds a copy of a text; as bytes it would be sent as a binary value, which has no
// character set.
func (w *writer) Text(v []byte) { w.values = append(w.values, string(v)) }

// EndRow inserts the rows when there are enough of them.
func (w *writer) EndRow() error {
	if n := len(w.values) % w.columns; n != 0 {
		return fmt.Errorf("a row of table %s has %d values, expected %d", w.table, n, w.columns)
	}
	if len(w.values) < AtOnce*w.columns {
		return nil
	}
	err := w.many(w.statement, w.values)
	w.values = w.values[:0]
	return err
}
