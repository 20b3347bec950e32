package innodb

import (
	"context"
	"database/sql"
	"errors"
	"filewise/engine/internal/sqlrows"
	"fmt"
	"io"
	"strconv"
	"sync/atomic"

	"github.com/go-sql-driver/mysql"

	"filewise"
)

// infiles numbers the streams of this process, whose names the driver keeps in
// one register.
var infiles atomic.Int64

// loadData is the statement that reads a stream of the client's.
func loadData(table, stream string, columns []string) string {
	return "LOAD DATA LOCAL INFILE " + Literal("Reader::"+stream) + " INTO TABLE " + table +
		` CHARACTER SET utf8mb4 FIELDS TERMINATED BY '\t' ESCAPED BY '\\' LINES TERMINATED BY '\n' ` + columnList(columns)
}

// sendFile streams a batch as the file of a LOAD DATA LOCAL INFILE. The server
// makes warnings of what would be errors of an insert, and drops such rows: so
// rows and warnings are counted.
func (b *Bulk) sendFile(ctx context.Context, conn *sql.Conn, t filewise.TableData, batch int64) error {
	table, err := b.table(t)
	if err != nil {
		return err
	}
	from, to := io.Pipe()
	w := &lines{to: to, columns: len(t.Columns)}
	written := make(chan error, 1)
	name := fmt.Sprintf("fw%d", infiles.Add(1))
	mysql.RegisterReaderHandler(name, func() io.Reader { return from })
	defer mysql.DeregisterReaderHandler(name)
	go func() {
		err := t.Write(batch, w)
		if err == nil {
			err = w.flush()
		}
		_ = to.CloseWithError(err) // never fails
		written <- err
	}()
	result, err := conn.ExecContext(ctx, loadData(table, name, t.Columns))
	_ = from.Close() // ends the writer, whose lines nobody reads
	if wrote := <-written; wrote != nil && !errors.Is(wrote, io.ErrClosedPipe) {
		return wrote
	}
	if err != nil {
		return err
	}
	return complete(ctx, conn, result, w.rows)
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

// flushAt is the number of bytes that are handed on at a time.
const flushAt = 64 << 10

// lines encodes rows as lines of values with tabs between them. It implements
// filewise.RowWriter.
type lines struct {
	to      io.Writer
	columns int
	buf     []byte
	n       int // values of the row so far
	rows    int64
}

func (w *lines) separate() {
	if w.n > 0 {
		w.buf = append(w.buf, '\t')
	}
	w.n++
}

// Int writes a whole number.
func (w *lines) Int(v int64) {
	w.separate()
	w.buf = strconv.AppendInt(w.buf, v, 10)
}

// Float writes a number so that it is read back exactly.
func (w *lines) Float(v float64) {
	w.separate()
	w.buf = strconv.AppendFloat(w.buf, v, 'g', -1, 64)
}

// Text writes a text, with what would end it or the value escaped.
func (w *lines) Text(v []byte) {
	w.separate()
	plain := 0
	for i, c := range v {
		var escaped byte
		switch c {
		case '\t':
			escaped = 't'
		case '\n':
			escaped = 'n'
		case '\\':
			escaped = '\\'
		case 0:
			escaped = '0'
		default:
			continue
		}
		w.buf = append(append(w.buf, v[plain:i]...), '\\', escaped)
		plain = i + 1
	}
	w.buf = append(w.buf, v[plain:]...)
}

// Null writes no value.
func (w *lines) Null() {
	w.separate()
	w.buf = append(w.buf, '\\', 'N')
}

// EndRow ends a line, and hands full buffers on.
func (w *lines) EndRow() error {
	if w.n != w.columns {
		return errColumns(w.n, w.columns)
	}
	w.buf, w.n = append(w.buf, '\n'), 0
	w.rows++
	if len(w.buf) < flushAt {
		return nil
	}
	return w.flush()
}

func (w *lines) flush() error {
	_, err := w.to.Write(w.buf)
	w.buf = w.buf[:0]
	return err
}
