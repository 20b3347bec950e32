package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"time"

	"filewise"
)

// LoadBatch inserts a batch and its mark in one transaction, by a statement of
// many rows.
func (d *database) LoadBatch(ctx context.Context, t filewise.TableData, batch int64) (err error) {
	files, err := d.filesOfBatch(t, batch)
	if err != nil {
		return err
	}
	for _, at := range files {
		if err := d.loadInto(ctx, at, t, batch); err != nil {
			return err
		}
	}
	return nil
}

// loadInto loads a batch into one file.
func (d *database) loadInto(ctx context.Context, at int, t filewise.TableData, batch int64) (err error) {
	d.worked.Store(true)
	c, err := d.openShard(d.shards[at])
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if err := d.beginLoad(ctx, c); err != nil {
		return err
	}
	w := &rowWriter{c: c, table: t.Table, columns: t.Columns}
	err = w.load(ctx, t, batch)
	if err == nil {
		err = c.exec(ctx, section("commit"))
	}
	if err != nil && !c.AutoCommit() {
		err = errors.Join(err, c.exec(context.WithoutCancel(ctx), section("rollback")))
	}
	return errors.Join(explain(err), w.close())
}

// loadPatience is how long a batch waits for the lock of its file.
const loadPatience = time.Minute

// beginLoad waits for the file's write lock.
func (d *database) beginLoad(ctx context.Context, c *conn) error {
	for start := time.Now(); ; {
		err := c.exec(ctx, section("begin"))
		if !isBusy(err) || ctx.Err() != nil || time.Since(start) > loadPatience {
			return err
		}
	}
}

// Finish creates the indexes and gathers statistics, once the tables are full.
func (d *database) Finish(ctx context.Context) error {
	return d.each(ctx, func(ctx context.Context, i int, f *file) error {
		steps, err := d.loadSteps(i)
		if err != nil {
			return err
		}
		return explain(steps.Run(ctx, f.keeper.do))
	})
}

// rowsAtOnce is the number of rows of one insert statement: SQLite's time goes
// into steps, not into parsing, and 32,766 parameters are the most
// (limits.html, SQLITE_MAX_VARIABLE_NUMBER).
const rowsAtOnce = 100

// loadedTable marks the batches that are loaded.
const loadedTable = "CREATE TABLE fw_loaded (table_name TEXT NOT NULL, batch INTEGER NOT NULL, PRIMARY KEY (table_name, batch))"

// rowWriter collects rows and inserts them many at a time.
type rowWriter struct {
	c         *conn
	table     string
	columns   []string
	statement driver.Stmt // of rowsAtOnce rows
	values    []driver.NamedValue
}

func (w *rowWriter) load(ctx context.Context, t filewise.TableData, batch int64) error {
	const loaded = "SELECT count(*) FROM fw_loaded WHERE table_name = ?1 AND batch = ?2"
	mark := named(t.Table, batch)
	rows, err := w.c.queryArgs(ctx, loaded, mark)
	if err != nil {
		return err
	}
	if rows[0][0] != int64(0) {
		return nil
	}
	if err := t.Write(batch, w); err != nil {
		return err
	}
	if err := w.flush(); err != nil {
		return err
	}
	_, err = w.c.ExecContext(ctx, "INSERT INTO fw_loaded (table_name, batch) VALUES (?1, ?2)", mark)
	return err
}

func (w *rowWriter) add(v driver.Value) {
	w.values = append(w.values, driver.NamedValue{Ordinal: len(w.values) + 1, Value: v})
}

func (w *rowWriter) Int(v int64)     { w.add(v) }
func (w *rowWriter) Float(v float64) { w.add(v) }
func (w *rowWriter) Text(v []byte)   { w.add(string(v)) }
func (w *rowWriter) Null()           { w.add(nil) }

// EndRow inserts the rows when there are enough of them.
func (w *rowWriter) EndRow() error {
	if len(w.values)%len(w.columns) != 0 {
		return fmt.Errorf("a row of table %s has %d values, want %d", w.table, len(w.values)%len(w.columns), len(w.columns))
	}
	if len(w.values) < rowsAtOnce*len(w.columns) {
		return nil
	}
	if w.statement == nil {
		var err error
		if w.statement, err = w.c.PrepareContext(background, w.insert(rowsAtOnce)); err != nil {
			return err
		}
	}
	_, err := w.statement.(driver.StmtExecContext).ExecContext(background, w.values)
	w.values = w.values[:0]
	return err
}

// flush inserts what is left.
func (w *rowWriter) flush() error {
	if len(w.values) == 0 {
		return nil
	}
	_, err := w.c.ExecContext(background, w.insert(len(w.values)/len(w.columns)), w.values)
	w.values = w.values[:0]
	return err
}

func (w *rowWriter) insert(rows int) string {
	names := make([]string, len(w.columns))
	for i, c := range w.columns {
		names[i] = ident(c)
	}
	row := "(" + strings.TrimSuffix(strings.Repeat("?,", len(w.columns)), ",") + ")"
	return "INSERT INTO " + ident(w.table) + " (" + strings.Join(names, ", ") + ") VALUES " +
		strings.TrimSuffix(strings.Repeat(row+",", rows), ",")
}

func (w *rowWriter) close() error {
	if w.statement == nil {
		return nil
	}
	return w.statement.Close()
}
