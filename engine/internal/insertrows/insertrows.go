// Package insertrows inserts a batch with multi-row INSERT statements, for servers without a faster way to load rows.
package insertrows

import (
	"fmt"
	"strings"

	"filewise"
)

// AtOnce is the number of rows per statement. The engines accept at least 32,766 parameters.
const AtOnce = 100

// Load inserts a batch into a table. into is the table with its columns, as after INSERT INTO. many executes the
// statement of AtOnce rows, and can prepare it; rest executes the shorter last statement.
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
	statement   string // inserts AtOnce rows
	values      []any
}

func (w *writer) of(rows int) string {
	row := "(" + strings.TrimSuffix(strings.Repeat("?, ", w.columns), ", ") + ")"
	return "INSERT INTO " + w.into + " VALUES " + strings.TrimSuffix(strings.Repeat(row+", ", rows), ", ")
}

func (w *writer) Int(v int64)     { w.values = append(w.values, v) }
func (w *writer) Float(v float64) { w.values = append(w.values, v) }
func (w *writer) Null()           { w.values = append(w.values, nil) }

// Text adds a copy of a text, as a string. Bytes would be sent as a binary value, which has no character set.
func (w *writer) Text(v []byte) { w.values = append(w.values, string(v)) }

// EndRow inserts the collected rows if there are AtOnce of them.
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
