package dialect

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"

	"filewise"
	"filewise/internal/sqlfile"
)

// client sends each operation as one statement.
type client struct {
	*connection
	text      string
	deletes   bool
	order     []int // for each of the statement's parameters: the index of its argument
	statement driver.Stmt
	args      []any
	values    []driver.NamedValue
	row       []driver.Value
}

// newClient prepares a session and its statement. In a phase with a connection for each statement, nothing is prepared.
func newClient(ctx context.Context, s *connection) (filewise.Session, error) {
	text, err := s.schema.Statement(SectionStatement+s.Phase.Section, s.schema.TableOf(s.Worker))
	if err != nil {
		return nil, err
	}
	c := &client{connection: s}
	c.text, c.order = positional(text)
	c.deletes = strings.HasPrefix(c.text, "DELETE")
	c.values = make([]driver.NamedValue, len(c.order))
	c.One = c.one
	c.Unchanged = func(err error) bool { // what the server answers with an error is not committed
		_, answered := Number(err)
		return answered || errors.Is(err, errNoRow)
	}
	c.Interrupted = func(err error) bool { return interrupted(err) || errors.Is(err, errNoRow) }
	if err := s.lookFor(); err != nil {
		return nil, err
	}
	if s.Phase.PerStatement {
		s.pool.SetMaxIdleConns(-1) // returned connections are closed
		c.One = c.alone
		return c, nil
	}
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	if err := s.conn.Raw(c.prepare(ctx)); err != nil {
		return nil, err
	}
	c.closeFirst(c.statement.Close)
	return c, nil
}

// prepare prepares the statement on the driver's connection, which only this session uses. database/sql would allocate
// memory for each execution.
func (c *client) prepare(ctx context.Context) func(any) error {
	return func(connection any) (err error) {
		p, ok := connection.(driver.ConnPrepareContext)
		if !ok {
			return fmt.Errorf("the driver's connection %T prepares no statements", connection)
		}
		if c.statement, err = p.PrepareContext(ctx, c.text); err != nil {
			return fmt.Errorf("preparing %s: %w", sqlfile.Short(c.text), err)
		}
		return nil
	}
}

// fill sets the arguments of operation i.
func (c *client) fill(i int64) {
	c.args = c.Phase.Args.Args(c.args[:0], c.Worker, i)
	for n, arg := range c.order {
		c.values[n] = driver.NamedValue{Ordinal: n + 1, Value: c.args[arg]}
	}
}

// one executes one operation and reads all of its rows.
func (c *client) one(ctx context.Context, i int64) error {
	c.fill(i)
	if c.deletes {
		return c.found(c.statement.(driver.StmtExecContext).ExecContext(ctx, c.values))
	}
	rows, err := c.statement.(driver.StmtQueryContext).QueryContext(ctx, c.values)
	if err != nil {
		return err
	}
	c.row, err = drain(rows, c.row)
	return err
}

// found returns an error if a DELETE met no row. If MariaDB has to end a DELETE while it looks for the row, it answers as
// if there were no row (2 % of 100,000 on 10.11.19).
func (c *client) found(r driver.Result, err error) error {
	if err != nil {
		return err
	}
	if n, err := r.RowsAffected(); n > 0 || err != nil {
		return err
	}
	return fmt.Errorf("%s %v: %w", c.Phase.Section, c.args, errNoRow)
}

var errNoRow = errors.New("there is no such row")

// drain reads all rows into row, and returns row, which may have grown.
func drain(rows driver.Rows, row []driver.Value) ([]driver.Value, error) {
	width := len(rows.Columns())
	if width > len(row) {
		row = make([]driver.Value, width)
	}
	var err error
	for err == nil && width > 0 {
		err = rows.Next(row[:width])
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return row, errors.Join(err, rows.Close())
}

// alone executes an operation on a new connection. The operation consists of connecting, the statement and closing. A
// running statement is not interrupted: it is short, and interrupting it would need another statement for the
// connection's number.
func (c *client) alone(ctx context.Context, i int64) (err error) {
	c.fill(i)
	conn, err := c.pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	args := filewise.Each(c.values, func(v driver.NamedValue) any { return v.Value })
	if c.deletes {
		return c.found(conn.ExecContext(context.WithoutCancel(ctx), c.text, args...))
	}
	rows, err := conn.QueryContext(context.WithoutCancel(ctx), c.text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() { //nolint:revive // rows are read and discarded
	}
	return rows.Err()
}
