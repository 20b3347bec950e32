package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
)

// background has no Done: the driver would start a goroutine for each statement.
var background = context.Background()

// link is a connection of a worker, to one file or to none with all attached, with the
// statements that it has prepared.
type link struct {
	*conn
	counts   *counts // of the worker that has it now
	prepared map[any]driver.Stmt
	values   []driver.NamedValue
	row      []driver.Value
}

func newLink(c *conn, counts *counts) *link {
	return &link{conn: c, counts: counts, prepared: map[any]driver.Stmt{}}
}

// prepare is the statement of a key, whose text is asked for the first time.
func (l *link) prepare(key any, text func() (string, error)) (driver.Stmt, error) {
	if st := l.prepared[key]; st != nil {
		return st, nil
	}
	sql, err := text()
	if err != nil {
		return nil, err
	}
	st, err := l.PrepareContext(background, sql)
	if err != nil {
		return nil, fmt.Errorf("%s: preparing %s: %w", l.path, firstLine(sql), err)
	}
	l.prepared[key] = st
	return st, nil
}

// bind makes arguments the values of a statement, valid until the next.
func (l *link) bind(args []any) []driver.NamedValue {
	l.values = l.values[:0]
	for i, v := range args {
		l.values = append(l.values, driver.NamedValue{Ordinal: i + 1, Value: v})
	}
	return l.values
}

// each executes a statement and visits its rows, whose values are only valid
// meanwhile; without visit they are read to the end.
func (l *link) each(st driver.Stmt, visit func([]driver.Value) error, args []any) error {
	rows, err := st.(driver.StmtQueryContext).QueryContext(background, l.bind(args))
	if err != nil {
		return err
	}
	n := len(rows.Columns())
	if n > len(l.row) {
		l.row = make([]driver.Value, n)
	}
	for row := l.row[:n]; err == nil; {
		if err = rows.Next(row); err == nil && visit != nil {
			err = visit(row)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, rows.Close())
}

// control executes a section of shards.sql that has no variables and returns nothing.
func (l *link) control(name string) error {
	st, err := l.prepare(name, func() (string, error) { return section(name), nil })
	if err != nil {
		return err
	}
	_, err = st.(driver.StmtExecContext).ExecContext(background, nil)
	return err
}

// section is a section of shards.sql that has no variables.
func section(name string) string {
	st, err := shardsSQL.Statement(name, connectionVars{})
	if err != nil {
		panic(err) // the file is embedded and tested
	}
	return st
}

// patiently tries again while another connection holds the lock, as long as the
// context lasts.
func (l *link) patiently(ctx context.Context, do func() error) error {
	for {
		err := do()
		if !isBusy(err) {
			return err
		}
		l.counts.timeouts.Add(1)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// begin takes the file's write lock at once, waiting as long as the context lasts: one
// that is asked for within a transaction cannot be waited for.
func (l *link) begin(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return l.locked(func() error { return l.patiently(ctx, func() error { return l.control("begin") }) })
}

// locked counts the time of taking write locks.
func (l *link) locked(take func() error) error {
	start := l.counts.lock.begin()
	defer func() { l.counts.lock.end(start, leastLock) }()
	return take()
}

// end commits, or rolls back. A commit can be busy while a checkpoint of another
// connection is in the way, and on file systems with locks of other machines.
func (l *link) end(ctx context.Context, how string) error {
	start := l.counts.log.begin()
	defer func() { l.counts.log.end(start, leastLog) }()
	return l.patiently(ctx, func() error { return l.control(how) })
}

// abandon rolls back what SQLite has not rolled back itself.
func (l *link) abandon() error {
	if l.AutoCommit() {
		return nil
	}
	return l.control("rollback")
}

func (l *link) close() error {
	var errs []error
	for _, st := range l.prepared {
		errs = append(errs, st.Close())
	}
	l.prepared = nil
	return errors.Join(append(errs, l.conn.Close())...)
}
