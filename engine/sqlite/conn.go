package sqlite

import (
	"bytes"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"

	"filewise"
	"filewise/internal/sqlitedriver"
)

// conn is a connection to one file, for one goroutine at a time. It is the driver's own connection, because
// database/sql's pool would be measured.
type conn struct {
	*sqlitedriver.Conn
	path string
}

// Drivers of connections that work, and of connections that also check a file's contents.
var (
	workers = sqlitedriver.NewOpener(nil)
	keepers = sqlitedriver.NewOpener(sqlitedriver.Functions{"filewise_crc32_lines": crc32Lines})
)

// open connects to a file that exists.
func open(path string) (*conn, error) { return openBy(workers, path) }

func openBy(o *sqlitedriver.Opener, path string) (*conn, error) {
	c, err := o.Open(uriOf(path))
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", path, explain(err))
	}
	return &conn{c, path}, nil
}

// uriOf returns SQLite's URI for a file that must exist.
func uriOf(path string) string { return sqlitedriver.URI(path, "mode=rw") }

// openShard opens a file as a workload does: with the shape's settings, and with the chunk size that all connections to
// a file must share.
func (s *shape) openShard(sh shard) (*conn, error) {
	c, err := open(sh.path)
	if err != nil {
		return nil, err
	}
	if err := s.ready(c, sh); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (s *shape) ready(c *conn, sh shard) error {
	if err := c.section(context.Background(), s, "connection"); err != nil {
		return err
	}
	if sh.chunk == 0 {
		return nil
	}
	return c.setChunk("main", sh)
}

// setChunk sets the chunk size of a file that is attached under schema.
func (c *conn) setChunk(schema string, sh shard) error {
	if err := c.ChunkSize(schema, int(sh.chunk)); err != nil {
		return fmt.Errorf("%s: setting the chunk size to %d: %w", sh.path, sh.chunk, err)
	}
	return nil
}

// section executes a section of shards.sql and ignores its rows.
func (c *conn) section(ctx context.Context, s *shape, name string) error {
	statements, err := shardsSQL.Statements(name, s.connectionVars())
	if err != nil {
		return err
	}
	for _, st := range statements {
		if _, err := c.query(ctx, st); err != nil {
			return err
		}
	}
	return nil
}

// exec executes one statement.
func (c *conn) exec(ctx context.Context, sql string) error {
	if _, err := c.ExecContext(ctx, sql, nil); err != nil {
		return fmt.Errorf("%s: %s: %w", c.path, firstLine(sql), explain(err))
	}
	return nil
}

// query returns all rows of one statement.
func (c *conn) query(ctx context.Context, sql string) ([][]any, error) {
	return c.queryArgs(ctx, sql, nil)
}

// named returns the values of a statement's parameters.
func named(values ...any) []driver.NamedValue {
	all := make([]driver.NamedValue, len(values))
	for i, v := range values {
		all[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
	}
	return all
}

func (c *conn) queryArgs(ctx context.Context, sql string, args []driver.NamedValue) ([][]any, error) {
	failed := func(err error) error { return fmt.Errorf("%s: %s: %w", c.path, firstLine(sql), explain(err)) }
	rows, err := c.QueryContext(ctx, sql, args)
	if err != nil {
		return nil, failed(err)
	}
	defer rows.Close()
	var out [][]any
	values := make([]driver.Value, len(rows.Columns()))
	for {
		err := rows.Next(values)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, failed(err)
		}
		row := make([]any, len(values))
		for i, v := range values {
			if b, ok := v.([]byte); ok {
				v = append([]byte(nil), b...) // the driver's buffer is reused
			}
			row[i] = v
		}
		out = append(out, row)
	}
}

// value returns the only value of a statement's result.
func (c *conn) value(ctx context.Context, sql string) (any, error) {
	rows, err := c.query(ctx, sql)
	if err != nil {
		return nil, err
	}
	if len(rows) != 1 || len(rows[0]) != 1 {
		return nil, fmt.Errorf("%s: %s: expected one value, got %v", c.path, sql, rows)
	}
	return rows[0][0], nil
}

// explain adds filewise.ErrSpace if the error means that, and the error number of the failed system call.
func explain(err error) error {
	c, ok := sqlitedriver.CodesOf(err)
	switch {
	case ok && c.Errno != 0 && errors.Is(err, c.Errno): // explained before
	case errors.Is(err, filewise.ErrSpace):
	case ok && c.Primary == sqlitedriver.Full:
		return fmt.Errorf("%w: %w", filewise.ErrSpace, err)
	case ok && c.Errno != 0: // it shows faults of the host
		return fmt.Errorf("%w: %w", err, c.Errno)
	}
	return err
}

// isBusy reports whether another connection holds a lock. If the locks of WAL readers are taken, SQLite gives up with
// SQLITE_PROTOCOL.
func isBusy(err error) bool {
	c, ok := sqlitedriver.CodesOf(err)
	return ok && (c.Primary == sqlitedriver.Busy || c.Primary == sqlitedriver.Protocol)
}

func firstLine(sql string) string {
	for line := range strings.SplitSeq(sql, "\n") {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "--") {
			return line
		}
	}
	return sql
}

// crc32Lines implements filewise_crc32_lines: it returns the sum of the CRC-32s of a text's lines.
func crc32Lines(text []byte) int64 {
	var total int64
	for len(text) > 0 {
		line := text
		if i := bytes.IndexByte(text, 0x0a); i >= 0 {
			line, text = text[:i], text[i+1:]
		} else {
			text = nil
		}
		total += int64(crc32.ChecksumIEEE(line))
	}
	return total
}
