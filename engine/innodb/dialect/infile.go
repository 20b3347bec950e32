package dialect

import (
	"context"
	"database/sql"
	"fmt"
	"sync/atomic"

	"github.com/go-sql-driver/mysql"

	"filewise"
	"filewise/engine/internal/sqlrows"
	"filewise/engine/internal/tabbed"
)

// infiles numbers the streams of this process, whose names the driver keeps in
// one register.
var infiles atomic.Int64

// loadData is the statement that reads a stream of the client's. Texts of ASCII are in the
// columns' character set already: said to be binary, they are not converted.
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
