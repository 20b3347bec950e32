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

// Bulk loads a program's tables by LOAD DATA LOCAL INFILE, streamed, if the
// server takes that; else by prepared inserts of many rows. It implements
// filewise.BulkLoader. It uses the connections of the host's control.
type Bulk struct {
	Host   Host
	Schema Schema
	// Unlogged keeps the load out of the binary log, which needs rights that an
	// account has on a managed server only.
	Unlogged bool

	mu     sync.Mutex
	asked  bool
	infile bool // the server's local_infile
}

// NewBulk returns the loader of a program's tables; nil if there is nothing to load.
func NewBulk(h Host, s Schema, unlogged bool) filewise.BulkLoader {
	if !s.Program.Loads() {
		return nil
	}
	return &Bulk{Host: h, Schema: s, Unlogged: unlogged}
}

// LoadBatch loads a batch and its mark in one transaction. The mark comes first:
// of a batch that is loaded already nothing is sent again, and one whose lost
// connection the server has not noticed yet is waited for.
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

// Finish creates the indexes from sorted keys, and gathers statistics, of several tables
// at the same time.
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

// tableOK executes a statement that maintains a table, whose rows describe how that
// went: ANALYZE, CHECK.
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

// markBatch notes a batch that is loaded.
func (s Schema) markBatch() string {
	return "INSERT INTO " + in(s.Database, LoadedTable) + " (table_name, batch) VALUES (?, ?)"
}

func (s Schema) analyze(t Table) string {
	return "ANALYZE NO_WRITE_TO_BINLOG TABLE " + in(s.Database, t.Name)
}

// with lends a control connection for a piece of the load. One on which
// something failed is closed, and the server rolls back what it had begun.
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
		_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // what database/sql closes a connection for
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

// takesInfile checks once whether the server takes the client's files.
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

// table returns the schema's table for the workload's data.
func (b *Bulk) table(t filewise.TableData) (string, error) {
	name := tableOfData(t.Table)
	if !slices.ContainsFunc(b.Schema.Tables, func(own Table) bool { return own.Name == name }) {
		return "", fmt.Errorf("the program has no table %s", t.Table)
	}
	return in(b.Schema.Database, name), nil
}

// columnList returns the columns' names in parentheses.
func columnList(columns []string) string {
	names := filewise.Each(columns, Ident)
	return "(" + strings.Join(names, ", ") + ")"
}

// sendInserts inserts a batch by prepared statements of many rows, for servers
// that take no file of the client's.
func (b *Bulk) sendInserts(ctx context.Context, conn *sql.Conn, t filewise.TableData, batch int64) error {
	table, err := b.table(t)
	if err != nil {
		return err
	}
	var many *sql.Stmt
	defer func() {
		if many != nil {
			_ = many.Close() // ends with its connection at the latest
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

// infiles numbers the streams of this process, whose names the driver keeps in
// one register.
var infiles atomic.Int64

// loadData returns the statement that reads a stream of the client's. Texts of ASCII are in the
// columns' character set already: stated to be binary, they are not converted.
func loadData(table, stream string, columns []string, ascii bool) string {
	set := "utf8mb4"
	if ascii {
		set = "binary"
	}
	return "LOAD DATA LOCAL INFILE " + Literal("Reader::"+stream) + " INTO TABLE " + table + " CHARACTER SET " + set +
		` FIELDS TERMINATED BY '\t' ESCAPED BY '\\' LINES TERMINATED BY '\n' ` + columnList(columns)
}

// sendFile sends a batch as the file of a LOAD DATA LOCAL INFILE. The server
// makes warnings of what would be errors of an insert, and drops such rows: so
// rows and warnings are counted.
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

// complete compares what the server has taken with what was sent.
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
