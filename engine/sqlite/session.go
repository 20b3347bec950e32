package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"

	"filewise"
)

// session is one connection of the workload: a SQLite connection to each of its
// files, of which it has several only when there are more files than connections.
type session struct {
	d      *database
	worker int
	counts counts

	mu     sync.Mutex // Drop closes sessions that were left open
	files  []*workFile
	args   []any
	values []driver.NamedValue
}

// workFile is a session's connection to one file, with its prepared statements.
type workFile struct {
	conn                            *conn
	done                            *fileCounts
	begin, insert, commit, rollback driver.StmtExecContext
	statements                      []driver.Stmt
}

// Connect opens the files of a worker, and only these.
func (d *database) Connect(_ context.Context, worker int) (filewise.Session, error) {
	if worker < 0 || worker >= d.program.Connections {
		return nil, fmt.Errorf("connection %d of a workload with %d", worker, d.program.Connections)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dropped {
		return nil, errors.New("the database was dropped")
	}
	d.worked.Store(true)
	s := &session{d: d, worker: worker}
	for _, i := range d.filesOf(worker) {
		f, err := d.openWork(d.shards[i], worker)
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		f.done = d.countsOf(d.shards[i].path)
		s.files = append(s.files, f)
	}
	d.sessions = append(d.sessions, s)
	return s, nil
}

func (s *shape) openWork(sh shard, worker int) (*workFile, error) {
	c, err := s.connect(sh)
	if err != nil {
		return nil, err
	}
	f := &workFile{conn: c}
	insert, err := s.sql.Statement("insert", vars(s.program, tableName(s.perConnection, worker)))
	if err != nil {
		return nil, errors.Join(err, f.close())
	}
	for _, p := range []struct {
		to   *driver.StmtExecContext
		text string
	}{{&f.begin, section("begin")}, {&f.insert, insert}, {&f.commit, section("commit")}, {&f.rollback, section("rollback")}} {
		st, err := c.PrepareContext(context.Background(), p.text)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: preparing %s: %w", sh.path, firstLine(p.text), err), f.close())
		}
		f.statements = append(f.statements, st)
		*p.to = st.(driver.StmtExecContext)
	}
	return f, nil
}

// section is a section of shards.sql that has no variables.
func section(name string) string {
	st, err := shardsSQL.Statement(name, connectionVars{})
	if err != nil {
		panic(err) // the file is embedded and tested
	}
	return st
}

// Do inserts rows first … first+n−1 in transactions of CommitEvery rows. When
// the context ends, no further transaction begins and an open one is rolled back.
func (s *session) Do(ctx context.Context, first, n int64) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.files == nil {
		return 0, errors.New("the connection is closed")
	}
	p := &s.d.program
	if first < 0 || n < 0 || p.Limit > 0 && n > p.Limit-first {
		return 0, filewise.Errorf(filewise.CodeUsage, "use fewer rows, or --key sequential",
			"rows %d to %d of connection %d: the workload has %d with unique keys", first, first+n-1, s.worker, p.Limit)
	}
	every := int64(p.CommitEvery)
	done := int64(0)
	for done < n {
		at := first + done
		rows := min(every, n-done)
		f := s.files[at/every%int64(len(s.files))]
		if err := s.transaction(ctx, f, at, rows); err != nil {
			return done, err
		}
		done += rows
	}
	return done, nil
}

// background has no Done: the driver would start a goroutine for each statement.
var background = context.Background()

func (s *session) transaction(ctx context.Context, f *workFile, first, n int64) error {
	if err := s.begin(ctx, f); err != nil {
		return err
	}
	err := s.insert(ctx, f, first, n)
	if err == nil {
		err = s.commit(ctx, f)
	}
	if err != nil {
		return errors.Join(err, f.abandon())
	}
	s.counts.transactions.Add(1)
	s.counts.rows.Add(n)
	f.done.rows.Add(n)
	return nil
}

// begin takes the file's write lock, waiting as long as the context lasts, and
// counts the time.
func (s *session) begin(ctx context.Context, f *workFile) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	start := s.counts.lock.begin()
	defer func() { s.counts.lock.end(start, leastLock) }()
	for {
		_, err := f.begin.ExecContext(background, nil)
		if err == nil {
			return nil
		}
		if !isBusy(err) {
			return s.failed(f, "beginning a transaction", err)
		}
		s.counts.timeouts.Add(1)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// lookEvery is the number of rows between two looks at the context.
const lookEvery = 256

func (s *session) insert(ctx context.Context, f *workFile, first, n int64) error {
	for i := first; i < first+n; i++ {
		if (i-first)%lookEvery == lookEvery-1 && ctx.Err() != nil {
			return ctx.Err()
		}
		s.args = s.d.program.Args.Args(s.args[:0], s.worker, i)
		s.values = s.values[:0]
		for k, v := range s.args {
			s.values = append(s.values, driver.NamedValue{Ordinal: k + 1, Value: v})
		}
		if _, err := f.insert.ExecContext(background, s.values); err != nil {
			return s.failed(f, fmt.Sprintf("inserting row %d", i), err)
		}
	}
	return nil
}

// commit ends the transaction. It can be busy only on file systems with locks of
// other machines, and is then tried again like the beginning.
func (s *session) commit(ctx context.Context, f *workFile) error {
	start := s.counts.log.begin()
	defer func() { s.counts.log.end(start, leastLog) }()
	for {
		_, err := f.commit.ExecContext(background, nil)
		if err == nil {
			return nil
		}
		if !isBusy(err) {
			return s.failed(f, "committing", err)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

func (s *session) failed(f *workFile, what string, err error) error {
	return fmt.Errorf("connection %d, %s: %s: %w", s.worker, f.conn.path, what, explain(err))
}

// abandon rolls back what SQLite has not rolled back itself.
func (f *workFile) abandon() error {
	if f.conn.AutoCommit() {
		return nil
	}
	_, err := f.rollback.ExecContext(background, nil)
	return err
}

func (f *workFile) close() error {
	var errs []error
	for _, st := range f.statements {
		errs = append(errs, st.Close())
	}
	return errors.Join(append(errs, f.conn.Close())...)
}

// Close closes the connections. Closing again does nothing.
func (s *session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, f := range s.files {
		errs = append(errs, f.close())
	}
	s.files = nil
	return errors.Join(errs...)
}
