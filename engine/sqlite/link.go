package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"sync"
)

// background is a context without a Done channel. With one, the driver would start a goroutine for each statement.
var background = context.Background()

// link is a worker's connection with its prepared statements. It connects to one file, or to none with all files
// attached.
type link struct {
	*conn
	counts   *counts // of the worker that uses it now
	prepared map[any]driver.Stmt
	values   []driver.NamedValue
	row      []driver.Value
}

func newLink(c *conn, counts *counts) *link {
	return &link{conn: c, counts: counts, prepared: map[any]driver.Stmt{}}
}

// prepare returns the prepared statement for a key. It calls text only the first time.
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

// bind returns arguments as a statement's values, valid until the next call.
func (l *link) bind(args []any) []driver.NamedValue {
	l.values = l.values[:0]
	for i, v := range args {
		l.values = append(l.values, driver.NamedValue{Ordinal: i + 1, Value: v})
	}
	return l.values
}

// each executes a statement and calls visit for its rows, whose values are valid only during the call. If visit is nil,
// the rows are read and discarded.
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

// control executes a section of shards.sql that has no variables and returns no rows.
func (l *link) control(name string) error {
	st, err := l.prepare(name, func() (string, error) { return section(name), nil })
	if err != nil {
		return err
	}
	_, err = st.(driver.StmtExecContext).ExecContext(background, nil)
	return err
}

// section returns a section of shards.sql that has no variables.
func section(name string) string {
	st, err := shardsSQL.Statement(name, connectionVars{})
	if err != nil {
		panic(err) // the file is embedded and tested
	}
	return st
}

// patiently repeats do while another connection holds the lock, until the context ends.
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

// begin takes the file's write lock at once, and waits for it until the context ends. SQLite cannot wait for a lock
// that is requested within a transaction.
func (l *link) begin(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return l.locked(func() error { return l.patiently(ctx, func() error { return l.control("begin") }) })
}

// locked measures the time that taking write locks takes.
func (l *link) locked(take func() error) error {
	start := l.counts.lock.begin()
	defer func() { l.counts.lock.end(start, leastLock) }()
	return take()
}

// end commits or rolls back. A commit can be busy while another connection's checkpoint blocks it. On network file
// systems, locks of other machines can also block it.
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

const (
	// mostAttached is the limit that SQLite is compiled with (SQLITE_MAX_ATTACHED).
	mostAttached = 10
	// mostLinks limits how many connections have all files attached. Each of them has three times as many files open as
	// the layout has.
	mostLinks = 16
)

// attachedName returns the schema under which file i is attached.
func attachedName(i int) string { return fmt.Sprintf("fw_%04d", i+1) }

// attach attaches a file under a name.
func (c *conn) attach(file, name string) error {
	if _, err := c.ExecContext(background, "ATTACH DATABASE ?1 AS "+ident(name), named(file)); err != nil {
		return fmt.Errorf("attaching %s: %w", file, err)
	}
	return nil
}

// attachOthers attaches all files except the first, with which they share names.
func (s *shape) attachOthers(c *conn) error {
	for i, sh := range s.shards[1:] {
		if err := c.attach(sh.path, attachedName(i+1)); err != nil {
			return err
		}
	}
	return nil
}

// openAll opens a connection with all files attached and no main file. Its transactions lock only the files that they
// touch.
func (s *shape) openAll() (*conn, error) {
	raw, err := workers.Open("file::memory:?mode=memory")
	if err != nil {
		return nil, fmt.Errorf("opening a connection for all files: %w", err)
	}
	c := &conn{raw, "all files"}
	if err := s.attachAll(c); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (s *shape) attachAll(c *conn) error {
	pragmas := []string{fmt.Sprintf("busy_timeout = %d", busyMillis), fmt.Sprintf("wal_autocheckpoint = %d", s.autoCheckpoint)}
	for i, sh := range s.shards {
		name := attachedName(i)
		if err := c.attach(sh.path, name); err != nil {
			return err
		}
		if sh.chunk > 0 {
			if err := c.setChunk(name, sh); err != nil {
				return err
			}
		}
		for _, set := range append([]string{"synchronous = " + s.synchronous}, s.settings...) {
			pragmas = append(pragmas, name+"."+set)
		}
	}
	for _, set := range pragmas {
		if _, err := c.query(background, "PRAGMA "+set); err != nil {
			return err
		}
	}
	return nil
}

// attachedLinks holds the connections to all files, which workers borrow.
type attachedLinks struct {
	mu        sync.Mutex
	all, free []*link
	places    chan struct{} // limits the connections in use
}

// take lends a connection, and waits until one is free.
func (a *attachedLinks) take(ctx context.Context, s *shape) (*link, error) {
	a.mu.Lock()
	if a.places == nil {
		a.places = make(chan struct{}, mostLinks)
	}
	places := a.places
	a.mu.Unlock()
	select {
	case places <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if n := len(a.free); n > 0 {
		l := a.free[n-1]
		a.free = a.free[:n-1]
		return l, nil
	}
	c, err := s.openAll()
	if err != nil {
		<-places
		return nil, err
	}
	l := newLink(c, nil)
	a.all = append(a.all, l)
	return l, nil
}

// give returns a connection.
func (a *attachedLinks) give(l *link) {
	a.mu.Lock()
	a.free = append(a.free, l)
	a.mu.Unlock()
	<-a.places
}

// close closes all connections. None may be in use.
func (a *attachedLinks) close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var errs []error
	for _, l := range a.all {
		errs = append(errs, l.close())
	}
	a.all, a.free = nil, nil
	return errors.Join(errs...)
}
