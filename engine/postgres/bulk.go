package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"filewise"
)

// createLoaded makes the table by which a batch is known to be loaded, in a schema
// of its own: it is no file of the layout.
var createLoaded = []string{
	"CREATE SCHEMA filewise",
	"CREATE TABLE filewise.fw_loaded (table_name text NOT NULL, batch bigint NOT NULL, PRIMARY KEY (table_name, batch))",
}

const markLoaded = "INSERT INTO filewise.fw_loaded VALUES ($1, $2) ON CONFLICT DO NOTHING"

// bulk loads by COPY, on connections of its own.
type bulk struct {
	build *build
	link  *link
}

func newLoaders(b *build) *link {
	l := b.link.to(b.link.config.Database)
	l.slots = make(chan struct{}, loaders())
	return l
}

// LoadBatch copies a batch and its mark in one transaction. Nothing waits for its
// WAL: the data are brought to the storage before anything is measured.
func (b bulk) LoadBatch(ctx context.Context, t filewise.TableData, batch int64) error {
	return b.link.with(ctx, func(conn *pgx.Conn) error {
		err := b.load(ctx, conn, t, batch)
		if err != nil && !conn.IsClosed() && conn.PgConn().TxStatus() != 'I' {
			_ = conn.Close(context.Background()) // ends the transaction as well
		}
		return failed(fmt.Sprintf("loading batch %d of table %s", batch, t.Table), err)
	})
}

func (b bulk) load(ctx context.Context, conn *pgx.Conn, t filewise.TableData, batch int64) error {
	exec := func(statement string, args ...any) (int64, error) {
		tag, err := conn.Exec(ctx, statement, args...)
		return tag.RowsAffected(), b.link.done(ctx, statement, err)
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
	statement := copyStatement(t.Table, t.Columns)
	from, to := io.Pipe()
	w := &copyWriter{to: to, table: t.Table, columns: len(t.Columns), buf: make([]byte, 0, copyChunk+copyChunk/4)}
	wrote := make(chan error, 1)
	go func() {
		err := t.Write(batch, w)
		if err == nil {
			err = w.flush()
		}
		wrote <- err
		to.CloseWithError(err) // nil is the end
	}()
	tag, err := conn.PgConn().CopyFrom(ctx, from, statement)
	from.CloseWithError(errCopyOver) // a writer that is not at its end stops
	if err = b.link.done(ctx, statement, err); err != nil {
		select {
		case cause := <-wrote:
			if cause != nil && !errors.Is(cause, errCopyOver) {
				err = fmt.Errorf("%w: %w", cause, err)
			}
		default: // it goes on until it hands the next rows over
		}
		return err
	}
	if n := tag.RowsAffected(); n != w.rows {
		return fmt.Errorf("the server took %d rows of %d", n, w.rows)
	}
	_, err = exec("COMMIT")
	return err
}

var errCopyOver = errors.New("the server takes no more rows")

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
		eg.Go(func() error { return b.link.exec(gctx, table...) })
	}
	if err := eg.Wait(); err != nil {
		return failed("finishing the load", err)
	}
	b.link.forget()
	b.build.indexed.Store(true)
	if b.build.loaded == nil {
		return nil
	}
	return failed("finishing the load", b.build.loaded(ctx))
}

// loadArguments are what a private server has on its command line while it is
// loaded, and not when it is measured: room for all data, and nothing is synced or
// vacuumed before all of it is there.
func (d *design) loadArguments() []string {
	pool := min(max(d.layout.Data.Bytes, leastPool), 2*mostPool) / mib
	return []string{"-c", fmt.Sprintf("shared_buffers=%dMB", pool), "-c", fmt.Sprintf("maintenance_work_mem=%dMB", pool),
		"-c", "fsync=off", "-c", "full_page_writes=off", "-c", "autovacuum=off"}
}

// endLoad stops a server that is loaded, brings its files to the storage, and starts
// it as it is measured.
func (i *instance) endLoad(ctx context.Context) error {
	if err := i.stop(ctx); err != nil {
		return err
	}
	if err := i.sync(ctx, nil); err != nil {
		return err
	}
	i.loading = false
	return i.start(ctx)
}

// copyChunk is handed to the connection at a time, in bytes.
const copyChunk = 64 << 10

// copyWriter encodes rows as COPY's text format (PostgreSQL's documentation, COPY,
// “Text Format”): the server converts each value to its column's type.
type copyWriter struct {
	to      io.Writer
	table   string
	columns int
	buf     []byte
	at      int // columns written in this row
	rows    int64
}

func (w *copyWriter) next() {
	if w.at > 0 {
		w.buf = append(w.buf, '\t')
	}
	w.at++
}

// Int writes a whole number.
func (w *copyWriter) Int(v int64) {
	w.next()
	w.buf = strconv.AppendInt(w.buf, v, 10)
}

// Float writes a number so that it is read back exactly.
func (w *copyWriter) Float(v float64) {
	w.next()
	w.buf = strconv.AppendFloat(w.buf, v, 'g', -1, 64)
}

// Null writes the absence of a value.
func (w *copyWriter) Null() {
	w.next()
	w.buf = append(w.buf, '\\', 'N')
}

// Text writes a text; what means something to COPY is escaped.
func (w *copyWriter) Text(v []byte) {
	w.next()
	from := 0
	for i, c := range v {
		var escaped byte
		switch c {
		case '\\':
			escaped = '\\'
		case '\n':
			escaped = 'n'
		case '\r':
			escaped = 'r'
		case '\t':
			escaped = 't'
		default:
			continue
		}
		w.buf = append(append(w.buf, v[from:i]...), '\\', escaped)
		from = i + 1
	}
	w.buf = append(w.buf, v[from:]...)
}

// EndRow ends a row, and hands rows over when there are enough.
func (w *copyWriter) EndRow() error {
	if w.at != w.columns {
		return fmt.Errorf("a row of table %s has %d values, want %d", w.table, w.at, w.columns)
	}
	w.buf, w.at, w.rows = append(w.buf, '\n'), 0, w.rows+1
	if len(w.buf) < copyChunk {
		return nil
	}
	return w.flush()
}

func (w *copyWriter) flush() error {
	_, err := w.to.Write(w.buf)
	w.buf = w.buf[:0]
	return err
}
