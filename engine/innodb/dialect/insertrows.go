package dialect

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"filewise"
)

// rowsAtOnce is the number of rows of one insert statement; a statement has at
// most 65,535 parameters.
const rowsAtOnce = 100

// sendInserts inserts a batch by prepared statements of many rows, for servers
// that take no file of the client's.
func (b *Bulk) sendInserts(ctx context.Context, conn *sql.Conn, t filewise.TableData, batch int64) error {
	table, err := b.table(t)
	if err != nil {
		return err
	}
	w := &inserts{ctx: ctx, conn: conn, table: table, columns: t.Columns}
	err = t.Write(batch, w)
	if err == nil {
		err = w.send()
	}
	if w.full != nil {
		_ = w.full.Close() // ends with its connection at the latest
	}
	return err
}

// inserts collects rows and inserts them many at a time. It implements
// filewise.RowWriter.
type inserts struct {
	ctx     context.Context
	conn    *sql.Conn
	table   string
	columns []string
	full    *sql.Stmt // of rowsAtOnce rows
	values  []any
}

// Int adds a whole number.
func (w *inserts) Int(v int64) { w.values = append(w.values, v) }

// Float adds a number.
func (w *inserts) Float(v float64) { w.values = append(w.values, v) }

// Null adds no value.
func (w *inserts) Null() { w.values = append(w.values, nil) }

// Text adds a copy of a text; as bytes it would be sent as a binary value, which
// has no character set.
func (w *inserts) Text(v []byte) { w.values = append(w.values, string(v)) }

// EndRow inserts the rows when there are enough of them.
func (w *inserts) EndRow() (err error) {
	if n := len(w.values) % len(w.columns); n != 0 {
		return fmt.Errorf("a row of table %s has %d values, want %d", w.table, n, len(w.columns))
	}
	if len(w.values) < rowsAtOnce*len(w.columns) {
		return nil
	}
	if w.full == nil {
		if w.full, err = w.conn.PrepareContext(w.ctx, w.statement(rowsAtOnce)); err != nil {
			return err
		}
	}
	_, err = w.full.ExecContext(w.ctx, w.values...)
	w.values = w.values[:0]
	return err
}

// send inserts what is left.
func (w *inserts) send() error {
	if len(w.values) == 0 {
		return nil
	}
	_, err := w.conn.ExecContext(w.ctx, w.statement(len(w.values)/len(w.columns)), w.values...)
	w.values = w.values[:0]
	return err
}

func (w *inserts) statement(rows int) string {
	row := "(" + strings.TrimSuffix(strings.Repeat("?, ", len(w.columns)), ", ") + ")"
	return "INSERT INTO " + w.table + " " + columnList(w.columns) + " VALUES " + strings.TrimSuffix(strings.Repeat(row+", ", rows), ", ")
}
