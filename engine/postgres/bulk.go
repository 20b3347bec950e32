package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"filewise"
	"filewise/engine/internal/tabbed"
	"filewise/engine/postgres/internal/client"
)

// createLoaded makes the table that marks a batch as loaded, in a schema
// of its own: it is no file of the layout.
var createLoaded = []string{
	"CREATE SCHEMA filewise",
	"CREATE TABLE filewise.fw_loaded (table_name text NOT NULL, batch bigint NOT NULL, PRIMARY KEY (table_name, batch))",
}

const markLoaded = "INSERT INTO filewise.fw_loaded VALUES ($1, $2) ON CONFLICT DO NOTHING"

// bulk loads by COPY, on connections of its own.
type bulk struct {
	build *build
	link  *client.Link
}

// LoadBatch copies a batch and its mark in one transaction. Nothing waits for its
// WAL: the data are brought to the storage before anything is measured.
func (b bulk) LoadBatch(ctx context.Context, t filewise.TableData, batch int64) error {
	return b.link.With(ctx, func(conn *pgx.Conn) error {
		err := b.load(ctx, conn, t, batch)
		if err != nil && !conn.IsClosed() && conn.PgConn().TxStatus() != 'I' {
			_ = conn.Close(context.Background()) // ends the transaction as well
		}
		return client.Failed(fmt.Sprintf("loading batch %d of table %s", batch, t.Table), err)
	})
}

func (b bulk) load(ctx context.Context, conn *pgx.Conn, t filewise.TableData, batch int64) error {
	exec := func(statement string, args ...any) (int64, error) {
		tag, err := conn.Exec(ctx, statement, args...)
		return tag.RowsAffected(), b.link.Done(ctx, statement, err)
	}
	if _, err := exec("BEGIN; SET LOCAL synchronous_commit = off"); err != nil {
		return err
	}
	marked, err := exec(markLoaded, t.Table, batch)
	if err != nil {
		return err
	}
	if marked == 0 { // it is loaded already
		_, err := exec("ROLLBACK")
		return err
	}
	rows, err := tabbed.Of(t, batch)
	if err != nil {
		return err
	}
	defer rows.Free()
	statement := copyStatement(t.Table, t.Columns)
	tag, err := conn.PgConn().CopyFrom(ctx, rows.Reader(), statement)
	if err = b.link.Done(ctx, statement, err); err != nil {
		return err
	}
	if n := tag.RowsAffected(); n != rows.Count() {
		return fmt.Errorf("the server took %d rows of %d", n, rows.Count())
	}
	_, err = exec("COMMIT")
	return err
}

// Finish makes the indexes, and brings all rows and statistics to rest, of several
// tables at the same time.
func (b bulk) Finish(ctx context.Context) error {
	all, err := b.build.design.finish()
	if err != nil {
		return err
	}
	eg, gctx := errgroup.WithContext(ctx)
	eg.SetLimit(loaders())
	for _, table := range all {
		eg.Go(func() error { return b.link.Exec(gctx, table...) })
	}
	if err := eg.Wait(); err != nil {
		return client.Failed("finishing the load", err)
	}
	b.link.Forget()
	b.build.indexed.Store(true)
	if b.build.loaded == nil {
		return nil
	}
	return client.Failed("finishing the load", b.build.loaded(ctx))
}

// loadArguments returns what a managed server has on its command line while it is
// loaded, and not when it is measured: room for all data, which is not limited then, and
// nothing is synced or vacuumed before all of it is there.
func (d *design) loadArguments() []string {
	pool := min(max(d.layout.Data.Bytes, leastPool), 2*mostPool) / mib
	if d.program.Restored() { // of any size
		pool = 2 * mostPool / mib
	}
	args := []string{"-c", fmt.Sprintf("shared_buffers=%dMB", pool), "-c", fmt.Sprintf("maintenance_work_mem=%dMB", pool),
		"-c", "fsync=off", "-c", "full_page_writes=off", "-c", "autovacuum=off"}
	if d.program.Preload > 0 { // it is copied with the data
		args = append(args, "-c", fmt.Sprintf("max_wal_size=%dMB", leastWAL/mib))
	}
	return args
}

// endLoad stops a server that is loaded, brings its files to the storage, and starts
// it as it is measured.
func (i *instance) endLoad(ctx context.Context) error {
	if err := i.life.Stop(ctx); err != nil {
		return err
	}
	if err := i.sync(); err != nil {
		return err
	}
	i.loading = false
	return i.life.Start(ctx)
}
