package sqlserver

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"runtime"

	mssql "github.com/microsoft/go-mssqldb"

	"filewise"
)

// loaders returns how many batches are loaded in parallel.
func loaders() int { return max(runtime.NumCPU(), 2) }

// bulk loads by TDS bulk copy, on separate connections.
type bulk struct{ build *build }

// LoadBatch copies a batch and records it in one transaction.
func (b bulk) LoadBatch(ctx context.Context, t filewise.TableData, batch int64) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	conn, err := b.build.loader.Conn(ctx)
	if err == nil {
		if err = b.load(ctx, conn, t, batch); err != nil {
			// What the driver has begun to send cannot be taken back. The connection's next use would send rows in the middle of
			// another statement.
			_ = conn.Raw(func(any) error { return driver.ErrBadConn })
		}
		_ = conn.Close() // returned to the pool, or closed after the error above
	}
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		err = errors.Join(context.Cause(ctx), err)
	}
	return b.build.server.login.explain(fmt.Errorf("loading batch %d of table %s: %w", batch, t.Table, err))
}

// load begins and ends its transaction by statements. database/sql's transaction could only be rolled back, and the
// rollback would come in the middle of the rows.
func (b bulk) load(ctx context.Context, conn *sql.Conn, t filewise.TableData, batch int64) error {
	for _, section := range []string{"count", "begin-load"} {
		if err := do(ctx, conn, section, nil); err != nil {
			return err
		}
	}
	loaded, err := marked(ctx, conn, t.Table, batch)
	if err == nil && !loaded {
		err = copyRows(ctx, conn, t, batch)
	}
	if err != nil {
		return err // the connection is closed, and its transaction rolled back
	}
	return do(ctx, conn, "commit-load", nil) // an empty transaction if the batch is loaded already
}

// marked records a batch as loaded. It returns true if the batch was recorded before.
func marked(ctx context.Context, conn *sql.Conn, table string, batch int64) (bool, error) {
	mark, err := server.Statement("mark-loaded", nil)
	if err != nil {
		return false, err
	}
	r, err := conn.ExecContext(ctx, mark, table, batch)
	if err != nil {
		return false, err
	}
	n, err := r.RowsAffected()
	return n == 0, err
}

// copyRows sends the rows of a batch. After a bad row the driver's last flush returns no error and 0 rows. So copyRows
// checks each row's error, and the number of rows at the end.
func copyRows(ctx context.Context, conn *sql.Conn, t filewise.TableData, batch int64) (err error) {
	rows := int(t.Rows/max(t.Batches, 1)) + 1
	statement, err := conn.PrepareContext(ctx, mssql.CopyIn("dbo."+t.Table, mssql.BulkOptions{RowsPerBatch: rows}, t.Columns...))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, statement.Close()) }()
	w := &bulkWriter{ctx: ctx, statement: statement, columns: len(t.Columns)}
	if err := t.Write(batch, w); err != nil {
		return err
	}
	result, err := statement.ExecContext(ctx)
	if err != nil {
		return err
	}
	taken, err := result.RowsAffected()
	if err == nil && taken != w.rows {
		err = fmt.Errorf("the server took %d rows of %d", taken, w.rows)
	}
	return err
}

// bulkWriter sends rows as they come. The driver writes a row before it returns, so texts are kept only until the row's
// end.
type bulkWriter struct {
	ctx       context.Context
	statement *sql.Stmt
	columns   int
	values    []any
	texts     []byte
	rows      int64
}

func (w *bulkWriter) Int(v int64)     { w.values = append(w.values, v) }
func (w *bulkWriter) Float(v float64) { w.values = append(w.values, v) }
func (w *bulkWriter) Null()           { w.values = append(w.values, nil) }
func (w *bulkWriter) Text(v []byte) {
	from := len(w.texts)
	w.texts = append(w.texts, v...)
	w.values = append(w.values, w.texts[from:len(w.texts):len(w.texts)])
}

// EndRow sends the row.
func (w *bulkWriter) EndRow() error {
	if len(w.values) != w.columns {
		return fmt.Errorf("row %d has %d values for %d columns", w.rows+1, len(w.values), w.columns)
	}
	_, err := w.statement.ExecContext(w.ctx, w.values...)
	w.values, w.texts = w.values[:0], w.texts[:0]
	if err != nil {
		return fmt.Errorf("row %d: %w", w.rows+1, err)
	}
	w.rows++
	return nil
}

// Finish creates the indexes that are cheaper to create on full tables, and updates statistics.
func (b bulk) Finish(ctx context.Context) error {
	err := b.build.steps.Of("indexes").Run(ctx, b.build.do)
	if err == nil {
		err = b.build.steps.Of("made").Run(ctx, b.build.do)
	}
	if err != nil {
		return b.build.server.login.explain(fmt.Errorf("finishing the load: %w", err))
	}
	return nil
}
