package dialect

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/go-sql-driver/mysql"
	"golang.org/x/sync/errgroup"

	"filewise"
	"filewise/engine/internal/insertrows"
	"filewise/engine/internal/sqlrows"
	"filewise/engine/internal/tabbed"
	"filewise/internal/sqlfile"
)

// Bulk loads a program's tables. It streams LOAD DATA LOCAL INFILE if the server accepts that, or else uses prepared
// inserts of many rows. It implements filewise.BulkLoader, and uses the host's control connections.
type Bulk struct {
	Host   Host
	Schema Schema
	// Unlogged keeps the load out of the binary log. It needs rights that an account has only on a managed server.
	Unlogged bool

	mu     sync.Mutex
	asked  bool
	infile bool // the server's local_infile
}

// NewBulk returns the loader of a program's tables, or nil if there is nothing to load.
func NewBulk(h Host, s Schema, unlogged bool) filewise.BulkLoader {
	if !s.Program.Loads() {
		return nil
	}
	return &Bulk{Host: h, Schema: s, Unlogged: unlogged}
}

// LoadBatch loads a batch and its mark in one transaction. The mark comes first, so that a batch that is loaded already
// is not sent again. If a lost connection that was loading the batch is still open on the server, LoadBatch waits for
// it.
func (b *Bulk) LoadBatch(ctx context.Context, t filewise.TableData, batch int64) error {
	return b.with(ctx, func(conn *sql.Conn) error {
		infile, err := b.takesInfile(ctx, conn)
		if err != nil {
			return err
		}
		if _, err := conn.ExecContext(ctx, "START TRANSACTION"); err != nil {
			return err
		}
		if _, err := conn.ExecContext(ctx, b.Schema.markBatch(), t.Table, batch); err != nil {
			if is(err, errDuplicate) {
				_, err = conn.ExecContext(ctx, "ROLLBACK")
			}
			return err
		}
		send := b.sendInserts
		if infile {
			send = b.sendFile
		}
		if err := send(ctx, conn, t, batch); err != nil {
			return fmt.Errorf("loading table %s: %w", t.Table, err)
		}
		_, err = conn.ExecContext(ctx, "COMMIT")
		return err
	})
}

// Finish creates the indexes from sorted keys and gathers statistics, for several tables in parallel.
func (b *Bulk) Finish(ctx context.Context) error {
	eg, gctx := errgroup.WithContext(ctx)
	eg.SetLimit(runtime.NumCPU())
	for _, t := range b.Schema.Tables {
		eg.Go(func() error {
			return b.with(gctx, func(conn *sql.Conn) error { return b.finish(gctx, conn, t) })
		})
	}
	return eg.Wait()
}

func (b *Bulk) finish(ctx context.Context, conn *sql.Conn, t Table) error {
	statements, err := b.Schema.afterLoad(t)
	if err != nil {
		return err
	}
	for _, s := range statements {
		if _, err := conn.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", sqlfile.Short(s), err)
		}
	}
	return tableOK(ctx, conn, b.Schema.analyze(t))
}

// tableOK executes a statement that maintains a table (ANALYZE, CHECK), and returns an error if the statement's rows
// report one.
func tableOK(ctx context.Context, conn *sql.Conn, statement string) error {
	rows, err := sqlrows.Query(ctx, conn, statement)
	if err != nil {
		return fmt.Errorf("%s: %w", sqlfile.Short(statement), err)
	}
	for _, row := range rows { // Table, Op, Msg_type, Msg_text
		if len(row) == 4 && (strings.EqualFold(fmt.Sprint(row[2]), "error") || row[2] == "status" && row[3] != "OK" &&
			row[3] != "Table is already up to date") {
			return fmt.Errorf("%s: %v", sqlfile.Short(statement), row[3])
		}
	}
	return nil
}

// markBatch returns the statement that records a loaded batch.
func (s Schema) markBatch() string {
	return "INSERT INTO " + in(s.Database, LoadedTable) + " (table_name, batch) VALUES (?, ?)"
}

func (s Schema) analyze(t Table) string {
	return "ANALYZE NO_WRITE_TO_BINLOG TABLE " + in(s.Database, t.Name)
}

// with lends a control connection for a part of the load. If do fails, the connection is closed, and the server rolls
// back what it had begun.
func (b *Bulk) with(ctx context.Context, do func(*sql.Conn) error) error {
	link, err := b.Host.Link()
	if err != nil {
		return err
	}
	b.Host.Touched()
	defer b.Host.Touched()
	conn, err := link.Control.Conn(ctx)
	if err != nil {
		return Classify(link.Explain(err))
	}
	if err = b.logging(ctx, conn, false); err == nil {
		if err = do(conn); err == nil {
			err = b.logging(ctx, conn, true)
		}
	}
	if err != nil {
		_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // makes database/sql close the connection
	}
	if closing := conn.Close(); err == nil {
		err = closing
	}
	return Classify(link.Explain(err))
}

func (b *Bulk) logging(ctx context.Context, conn *sql.Conn, on bool) error {
	if !b.Unlogged {
		return nil
	}
	statement := "SET sql_log_bin = 0"
	if on {
		statement = "SET sql_log_bin = 1"
	}
	_, err := conn.ExecContext(ctx, statement)
	return err
}

// takesInfile reports whether the server accepts LOAD DATA LOCAL. It asks once.
func (b *Bulk) takesInfile(ctx context.Context, conn *sql.Conn) (bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.asked {
		if err := conn.QueryRowContext(ctx, "SELECT @@GLOBAL.local_infile").Scan(&b.infile); err != nil {
			return false, err
		}
		b.asked = true
	}
	return b.infile, nil
}

// table returns the name of the schema's table for a table of the workload's data.
func (b *Bulk) table(t filewise.TableData) (string, error) {
	name := tableOfData(t.Table)
	if !slices.ContainsFunc(b.Schema.Tables, func(own Table) bool { return own.Name == name }) {
		return "", fmt.Errorf("the program has no table %s", t.Table)
	}
	return in(b.Schema.Database, name), nil
}

// columnList returns the columns' names in parentheses, or "" for none.
func columnList(columns []string) string {
	names := filewise.Each(columns, Ident)
	return "(" + strings.Join(names, ", ") + ")"
}

// sendInserts inserts a batch with prepared statements of many rows, for servers that do not accept LOAD DATA LOCAL.
func (b *Bulk) sendInserts(ctx context.Context, conn *sql.Conn, t filewise.TableData, batch int64) error {
	table, err := b.table(t)
	if err != nil {
		return err
	}
	var many *sql.Stmt
	defer func() {
		if many != nil {
			_ = many.Close() // it ends with its connection at the latest
		}
	}()
	return insertrows.Load(t, batch, table+" "+columnList(t.Columns), func(statement string, values []any) (err error) {
		if many == nil {
			if many, err = conn.PrepareContext(ctx, statement); err != nil { //nolint:sqlclosecheck // the function above closes it
				return err
			}
		}
		_, err = many.ExecContext(ctx, values...)
		return err
	}, func(statement string, values []any) error {
		_, err := conn.ExecContext(ctx, statement, values...)
		return err
	})
}

// infiles numbers this process's streams, whose names the driver keeps in one global register.
var infiles atomic.Int64

// loadData returns the statement that loads a stream from the client. ASCII texts are the same in the columns'
// character set, so they are declared binary to avoid a conversion.
func loadData(table, stream string, columns []string, ascii bool) string {
	set := "utf8mb4"
	if ascii {
		set = "binary"
	}
	return "LOAD DATA LOCAL INFILE " + Literal("Reader::"+stream) + " INTO TABLE " + table + " CHARACTER SET " + set +
		` FIELDS TERMINATED BY '\t' ESCAPED BY '\\' LINES TERMINATED BY '\n' ` + columnList(columns)
}

// sendFile sends a batch as the file of a LOAD DATA LOCAL INFILE. The server turns what would be errors of an insert
// into warnings, and drops such rows. So sendFile checks the counts of rows and warnings.
func (b *Bulk) sendFile(ctx context.Context, conn *sql.Conn, t filewise.TableData, batch int64) error {
	table, err := b.table(t)
	if err != nil {
		return err
	}
	rows, err := tabbed.Of(t, batch)
	if err != nil {
		return err
	}
	defer rows.Free()
	name := fmt.Sprintf("fw%d", infiles.Add(1))
	mysql.RegisterReaderHandler(name, rows.Reader)
	defer mysql.DeregisterReaderHandler(name)
	result, err := conn.ExecContext(ctx, loadData(table, name, t.Columns, rows.ASCII()))
	if err != nil {
		return err
	}
	return complete(ctx, conn, result, rows.Count())
}

// complete returns an error if the server has not taken all rows that were sent.
func complete(ctx context.Context, conn *sql.Conn, result sql.Result, sent int64) error {
	taken, err := result.RowsAffected()
	if err != nil {
		return err
	}
	var warnings int
	if err := conn.QueryRowContext(ctx, "SELECT @@warning_count").Scan(&warnings); err != nil {
		return err
	}
	if taken == sent && warnings == 0 {
		return nil
	}
	why := "no warning"
	if rows, err := sqlrows.Query(ctx, conn, "SHOW WARNINGS LIMIT 1"); err == nil && len(rows) > 0 {
		why = fmt.Sprint(rows[0]...)
	}
	return fmt.Errorf("the server took %d of %d rows, with %d warnings: %s", taken, sent, warnings, why)
}
