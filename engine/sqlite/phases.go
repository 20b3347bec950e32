package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"

	"filewise"
)

// phaseSession is a connection for a phase: to the file of a row's key, or, for
// queries over whole tables, to the first file with the others attached.
type phaseSession struct {
	d      *database
	phase  filewise.Phase
	worker int
	files  []*phaseFile // by number, opened when they are needed
	args   []any
	values []driver.NamedValue
}

// phaseFile is a connection to one file with the phase's prepared statement.
type phaseFile struct {
	conn      *conn
	statement driver.Stmt
}

// ConnectPhase opens a session for a phase of the program.
func (d *database) ConnectPhase(_ context.Context, phase, worker int) (filewise.Session, error) {
	if phase < 0 || phase >= len(d.program.Phases) || worker < 0 {
		return nil, fmt.Errorf("connection %d of phase %d of %d", worker, phase, len(d.program.Phases))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dropped {
		return nil, errors.New("the database was dropped")
	}
	d.worked.Store(true)
	switch {
	case d.program.Own != nil:
		return d.connectOwn(phase, worker)
	case d.program.Workload == ordersWorkload:
		return d.connectOrders(phase, worker)
	}
	return &phaseSession{d: d, phase: d.program.Phases[phase], worker: worker, files: make([]*phaseFile, d.count)}, nil
}

// Do executes n operations, each a transaction of its own.
func (s *phaseSession) Do(ctx context.Context, first, n int64) (int64, error) {
	for done := range n {
		if err := ctx.Err(); err != nil {
			return done, err
		}
		if err := s.one(ctx, first+done); err != nil {
			return done, fmt.Errorf("connection %d, operation %d: %w", s.worker, first+done, explain(err))
		}
	}
	return n, nil
}

func (s *phaseSession) one(ctx context.Context, i int64) (err error) {
	s.args = s.phase.Args.Args(s.args[:0], s.worker, i)
	s.values = s.values[:0]
	for k, v := range s.args {
		s.values = append(s.values, driver.NamedValue{Ordinal: k + 1, Value: v})
	}
	at := s.fileOf()
	if s.files[at] == nil {
		if s.files[at], err = s.open(at); err != nil {
			return err
		}
	}
	for {
		err = s.files[at].run(s.values)
		if !isBusy(err) || ctx.Err() != nil {
			break
		}
	}
	if s.phase.PerStatement {
		err = errors.Join(err, s.files[at].close())
		s.files[at] = nil
	}
	return err
}

// fileOf is the file of the operation's row, which its key says.
func (s *phaseSession) fileOf() int {
	if len(s.args) == 0 || s.d.wholeTables() { // all tables are seen from the first file
		return 0
	}
	key, _ := s.args[0].(int64)
	return int((key - 1) % int64(s.d.count))
}

func (s *phaseSession) open(at int) (*phaseFile, error) {
	c, err := s.d.connect(s.d.shards[at])
	if err != nil {
		return nil, err
	}
	f := &phaseFile{conn: c}
	if s.d.wholeTables() {
		if err := s.d.attachOthers(c); err != nil {
			return nil, errors.Join(err, f.close())
		}
	}
	text, err := s.d.sql.Statement("statement-"+s.phase.Section, vars(s.d.program, s.d.shards[at].tables[0]))
	if err != nil {
		return nil, errors.Join(err, f.close())
	}
	if f.statement, err = c.PrepareContext(background, text); err != nil {
		return nil, errors.Join(fmt.Errorf("preparing %s: %w", firstLine(text), err), f.close())
	}
	return f, nil
}

// run executes the statement and reads its rows to the end.
func (f *phaseFile) run(args []driver.NamedValue) error {
	rows, err := f.statement.(driver.StmtQueryContext).QueryContext(background, args)
	if err != nil {
		return err
	}
	values := make([]driver.Value, len(rows.Columns()))
	for err == nil {
		err = rows.Next(values)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, rows.Close())
}

func (f *phaseFile) close() error {
	var err error
	if f.statement != nil {
		err = f.statement.Close()
	}
	return errors.Join(err, f.conn.Close())
}

// Close closes the connections. Closing again does nothing.
func (s *phaseSession) Close() error {
	var errs []error
	for i, f := range s.files {
		if f != nil {
			errs = append(errs, f.close())
			s.files[i] = nil
		}
	}
	return errors.Join(errs...)
}

// attachOthers attaches all files but the first, with which they share names.
func (s *shape) attachOthers(c *conn) error {
	for i, sh := range s.shards[1:] {
		if err := c.attach(sh.path, attachedName(i+1)); err != nil {
			return err
		}
	}
	return nil
}

// attach attaches a file under a name.
func (c *conn) attach(file, name string) error {
	path := []driver.NamedValue{{Ordinal: 1, Value: file}}
	if _, err := c.ExecContext(background, "ATTACH DATABASE ?1 AS "+ident(name), path); err != nil {
		return fmt.Errorf("attaching %s: %w", file, err)
	}
	return nil
}

// Restart closes every file, which checkpoints it, and opens it again: the page
// caches of all connections are gone.
func (d *database) Restart(ctx context.Context) error {
	if err := d.closeRemotes(); err != nil {
		return err
	}
	return d.each(ctx, func(ctx context.Context, _ int, f *file) error { return d.reopen(ctx, f, nil) })
}

// Evict does the same, with the files' pages dropped from the system's cache in
// between.
func (d *database) Evict(ctx context.Context) error {
	if err := d.closeRemotes(); err != nil {
		return err
	}
	return d.each(ctx, func(ctx context.Context, _ int, f *file) error { return d.reopen(ctx, f, evict) })
}

func (d *database) reopen(ctx context.Context, f *file, between func(path string) error) error {
	if err := f.keeper.Close(); err != nil {
		return fmt.Errorf("closing %s: %w", f.path, err)
	}
	f.keeper = nil
	err := f.fd.Sync()
	if err == nil && between != nil {
		err = between(f.path)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	if f.keeper, err = openBy(keepers, f.path); err != nil {
		return err
	}
	return d.ready(f.keeper, f.shard)
}

// phaseSteps are what the phases execute on file i: statements of rows whose key
// belongs there, or, on the first file, queries over all; what is done without
// SQL is said.
func (s *shape) phaseSteps(i int) ([]filewise.Step, error) {
	switch {
	case s.program.Own != nil:
		return s.ownSteps(i)
	case s.program.Workload == ordersWorkload:
		return s.ordersSteps(i)
	}
	l := lister{stage: filewise.StageMeasure, on: s.shards[i].path}
	if s.wholeTables() {
		l.note("before: loaded by inserts of many rows, the batch noted in fw_loaded in the same transaction; then")
		for _, table := range s.shards[i].tables {
			l.addAll(s.sql.Statements("indexes", vars(s.program, table)))
		}
	}
	for _, p := range s.program.Phases {
		switch {
		case p.Act == filewise.ActBackup:
			l.note("copy the file by SQLite's online backup, a thread for each file, and sync the copy")
		case p.Act == filewise.ActRestore:
			l.note("copy the backup back into a new file, sync it, PRAGMA integrity_check, and compare its tables with the original's")
		case i == 0 || !s.wholeTables():
			l.note(fmt.Sprintf("%s: %d times over %d connections", p.Family, p.Ops, max(p.Connections, 1)))
			l.addAll(s.sql.Statements("statement-"+p.Section, vars(s.program, s.shards[i].tables[0])))
		}
	}
	return l.steps, l.err
}
