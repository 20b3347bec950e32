package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"filewise"
	"filewise/engine/internal/tabbed"
	"filewise/engine/postgres/client"
)

// createLoaded creates the table that records loaded batches. It has a separate schema, because it is not part of the
// layout.
var createLoaded = []string{
	"CREATE SCHEMA filewise",
	"CREATE TABLE filewise.fw_loaded (table_name text NOT NULL, batch bigint NOT NULL, PRIMARY KEY (table_name, batch))",
}

const markLoaded = "INSERT INTO filewise.fw_loaded VALUES ($1, $2) ON CONFLICT DO NOTHING"

// bulk loads by COPY, on separate connections.
type bulk struct {
	build *build
	link  *client.Link
}

// LoadBatch copies a batch and records it in one transaction. It does not wait for the WAL to be synced: the data are
// synced before anything is measured.
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
	if marked == 0 { // the batch is loaded already
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

// Finish makes indexes, statistics and visibility marks, for several tables in parallel.
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

// loadArguments returns a managed server's additional arguments while it is loaded. They give space for all data, and
// switch off syncing and autovacuum until the load ends.
func (d *design) loadArguments() []string {
	pool := min(max(d.layout.Data.Bytes, leastPool), 2*mostPool) / mib
	if d.program.Restored() { // a dump can have any size
		pool = 2 * mostPool / mib
	}
	args := []string{"-c", fmt.Sprintf("shared_buffers=%dMB", pool), "-c", fmt.Sprintf("maintenance_work_mem=%dMB", pool),
		"-c", "fsync=off", "-c", "full_page_writes=off", "-c", "autovacuum=off"}
	if d.program.Preload > 0 { // the WAL is copied with the data
		args = append(args, "-c", fmt.Sprintf("max_wal_size=%dMB", leastWAL/mib))
	}
	return args
}

// endLoad stops a server after a load, syncs its files, and starts it with the settings for measuring.
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
