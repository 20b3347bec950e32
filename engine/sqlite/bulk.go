package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"strings"
	"time"

	"filewise"
	"filewise/engine/internal/insertrows"
)

// LoadBatch inserts a batch and records it in one transaction, with multi-row statements.
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
	if err = c.load(ctx, t, batch); err == nil {
		err = c.exec(ctx, section("commit"))
	}
	if err != nil && !c.AutoCommit() {
		err = errors.Join(err, c.exec(context.WithoutCancel(ctx), section("rollback")))
	}
	return explain(err)
}

// loadPatience limits how long a batch waits for its file's lock.
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

// Finish creates the indexes and gathers statistics on the full tables.
func (d *database) Finish(ctx context.Context) error {
	return d.eachShrunk(ctx, func(ctx context.Context, i int, f *file) error {
		steps, err := d.loadSteps(i)
		if err != nil {
			return err
		}
		return explain(steps.Run(ctx, f.keeper.do))
	})
}

// loadedTable creates the table that records loaded batches.
const loadedTable = "CREATE TABLE fw_loaded (table_name TEXT NOT NULL, batch INTEGER NOT NULL, PRIMARY KEY (table_name, batch))"

// load inserts a batch that is not loaded yet, with prepared statements, so that SQLite's time goes into execution and
// not into parsing.
func (c *conn) load(ctx context.Context, t filewise.TableData, batch int64) (err error) {
	const loaded = "SELECT count(*) FROM fw_loaded WHERE table_name = ?1 AND batch = ?2"
	mark := named(t.Table, batch)
	rows, err := c.queryArgs(ctx, loaded, mark)
	if err != nil || rows[0][0] != int64(0) {
		return err
	}
	var many driver.Stmt
	defer func() {
		if many != nil {
			err = errors.Join(err, many.Close())
		}
	}()
	names := filewise.Each(t.Columns, ident)
	into := ident(t.Table) + " (" + strings.Join(names, ", ") + ")"
	err = insertrows.Load(t, batch, into, func(statement string, values []any) (err error) {
		if many == nil {
			if many, err = c.PrepareContext(background, statement); err != nil {
				return err
			}
		}
		_, err = many.(driver.StmtExecContext).ExecContext(background, named(values...))
		return err
	}, func(statement string, values []any) error {
		_, err := c.ExecContext(background, statement, named(values...))
		return err
	})
	if err != nil {
		return err
	}
	_, err = c.ExecContext(ctx, "INSERT INTO fw_loaded (table_name, batch) VALUES (?1, ?2)", mark)
	return err
}
