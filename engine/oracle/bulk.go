package oracle

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	go_ora "github.com/sijms/go-ora/v2"

	"filewise"
)

// rowsAtOnce is the number of rows in one array.
const rowsAtOnce = 500

// bulk loads by array binding, on the control connections.
type bulk struct{ build *build }

// LoadBatch loads a batch and records it in one transaction.
func (b bulk) LoadBatch(ctx context.Context, t filewise.TableData, batch int64) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	p := b.build.server.pool
	tx, err := p.db.BeginTx(ctx, nil)
	if err != nil {
		return p.why(ctx, statement{text: "beginning to load"}, err)
	}
	loaded, err := b.load(ctx, p.on(tx), t, batch)
	if err != nil || loaded {
		back := tx.Rollback()
		if errors.Is(back, sql.ErrTxDone) || errors.Is(back, driver.ErrBadConn) { // the transaction has ended with its connection
			back = nil
		}
		if err = errors.Join(err, filewise.HideIn(back, p.secrets...)); err != nil {
			return fmt.Errorf("loading batch %d of table %s: %w", batch, t.Table, err)
		}
		return nil
	}
	return p.why(ctx, statement{text: "COMMIT"}, tx.Commit())
}

// load writes the batch's rows. It returns true if they were loaded before.
func (b bulk) load(ctx context.Context, c driven, t filewise.TableData, batch int64) (bool, error) {
	v := b.build.design.objectVars()
	switch n, ok, err := count(ctx, c, "batch-loaded", v, t.Table, batch); {
	case err != nil || n > 0:
		return n > 0, err
	case !ok:
		return false, errNoRows
	}
	if err := exec(ctx, c, "mark-loaded", v, t.Table, batch); err != nil {
		return false, err
	}
	s, err := b.build.design.loading(t.Table, t.Columns)
	if err != nil {
		return false, err
	}
	w := &arrayWriter{columns: make([][]driver.Value, len(t.Columns)), write: func(columns [][]driver.Value) (int64, error) {
		s.args = s.args[:0]
		for _, c := range columns {
			s.args = append(s.args, go_ora.NewBatch(c))
		}
		return c.affected(ctx, s)
	}}
	if err := t.Write(batch, w); err != nil {
		return false, err
	}
	return false, w.flush()
}

// arrayWriter collects rows column by column, and writes many at a time.
type arrayWriter struct {
	columns [][]driver.Value
	at      int // the next column of the row
	rows    int
	write   func([][]driver.Value) (int64, error)
}

func (w *arrayWriter) add(v driver.Value) {
	if w.at < len(w.columns) {
		w.columns[w.at] = append(w.columns[w.at], v)
	}
	w.at++
}

func (w *arrayWriter) Int(v int64)     { w.add(v) }
func (w *arrayWriter) Float(v float64) { w.add(v) }
func (w *arrayWriter) Text(v []byte)   { w.add(string(v)) }
func (w *arrayWriter) Null()           { w.add(nil) }

// EndRow writes the collected rows if there are rowsAtOnce of them.
func (w *arrayWriter) EndRow() error {
	if w.at != len(w.columns) {
		return fmt.Errorf("a row has %d values for %d columns", w.at, len(w.columns))
	}
	w.at = 0
	if w.rows++; w.rows < rowsAtOnce {
		return nil
	}
	return w.flush()
}

// flush writes the remaining rows, and compares the server's number of rows.
func (w *arrayWriter) flush() error {
	if w.rows == 0 {
		return nil
	}
	n, err := w.write(w.columns)
	if err == nil && n != int64(w.rows) {
		err = fmt.Errorf("the server took %d rows of %d", n, w.rows)
	}
	for i := range w.columns {
		w.columns[i] = w.columns[i][:0]
	}
	w.rows = 0
	return err
}

// Finish creates keys, indexes and statistics, which is cheaper on full tables.
func (b bulk) Finish(ctx context.Context) error {
	d := b.build.design
	if err := b.build.steps.At(filewise.StageLoad).On(inTablespace+d.names.Tablespace).Run(ctx, b.build.do); err != nil {
		return fmt.Errorf("finishing the load: %w", err)
	}
	return nil
}
