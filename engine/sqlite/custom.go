package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"

	"filewise"
	"filewise/engine/customsql"
	"filewise/engine/internal/script"
	"filewise/internal/sqlitedriver"
)

// customRules describes SQLite's SQL syntax.
var customRules = customsql.Rules{Brackets: true}

// listSetup lists the statements that create the tables of custom SQL in file i. Each file is a separate database and
// has all tables. The section of each step is the statement's place in the study file.
func (s *shape) listSetup(l *lister, i int) {
	all, err := customRules.Setup(s.program.Custom, customsql.Site{Shard: i, Shards: s.count})
	l.addAll(nil, err)
	for _, x := range all {
		l.Rendered(l.stage, l.on, x.Place, []string{x.Text}, nil)
	}
}

// customTables returns the names of the workload's tables, at least one.
func customTables(p filewise.Program) []string {
	names := filewise.Each(p.Custom.Tables, func(t filewise.CustomTable) string { return t.Name })
	if len(names) == 0 {
		names = []string{"custom"}
	}
	return names
}

// queryCustom executes a query of custom SQL in every file.
func (d *database) queryCustom(ctx context.Context, section string) ([][]any, error) {
	q, err := customRules.Query(d.program.Custom, section)
	if err != nil {
		return nil, err
	}
	results := make([][][]any, len(d.files))
	err = d.eachShrunk(ctx, func(ctx context.Context, i int, f *file) (err error) {
		if results[i], err = f.keeper.query(ctx, q.Text); err != nil {
			return fmt.Errorf("%s: %w", q.Place, mistaken(err))
		}
		return nil
	})
	return slices.Concat(results...), err
}

// custom prepares a worker for custom SQL, to rehearse it or to work.
func (w *worker) custom(rehearse bool) error {
	c := &customWorker{worker: w}
	w.Noun = "transaction"
	w.Explain = func(err error) error { return mistaken(explain(err)) }
	custom := w.d.program.Custom
	for _, name := range w.Phase.Sections {
		c.shardBy = append(c.shardBy, slices.Index(custom.Sections[name].Params, custom.ShardBy))
	}
	l, err := w.link(w.d.filesOf(w.Worker)[0]) // so that a file that cannot be opened is reported now
	if err == nil {
		prepare := func(x *customsql.Statement) error {
			if _, err := l.custom(x); err != nil {
				return fmt.Errorf("%s: %w", x.Place, mistaken(err))
			}
			return nil
		}
		err = c.custom.Prepare(customRules, custom, w.Session, rehearse, prepare, prepare)
	}
	w.One, w.Try = c.transaction, c.rehearse
	return err
}

// customWorker executes custom SQL. It works on the worker's files, or on the file that a parameter of the transaction
// selects.
type customWorker struct {
	*worker
	custom  customsql.Session
	shardBy []int // for each type: the argument that selects the file; −1 if none does
}

// custom prepares a statement.
func (l *link) custom(s *customsql.Statement) (driver.Stmt, error) {
	return l.prepare(s, func() (string, error) { return s.Text, nil })
}

// fileOf returns the file of operation i: the one that its parameter selects, or the worker's files in turns.
func (c *customWorker) fileOf(kind int, i int64) int {
	if at := c.shardBy[kind]; at >= 0 && at < len(c.args) {
		if key, ok := c.args[at].(int64); ok {
			n := int64(c.d.count)
			return int((key%n + n) % n)
		}
	}
	files := c.d.filesOf(c.Worker)
	return files[int(i%int64(len(files)))]
}

// rehearse executes a transaction and rolls it back.
func (c *customWorker) rehearse(ctx context.Context, i int64) error {
	c.args = c.Args(c.args[:0], i)
	l, err := c.link(c.fileOf(c.Type(i), i))
	if err != nil {
		return err
	}
	return l.patiently(ctx, func() error { return c.custom.Rehearse(customConn{l, ctx}, c.Type(i), c.args) })
}

// transaction executes a transaction, and repeats it while other connections hold its locks.
func (c *customWorker) transaction(ctx context.Context, i int64) error {
	kind := c.Type(i)
	c.args = c.Args(c.args[:0], i)
	l, err := c.link(c.fileOf(kind, i))
	if err != nil {
		return err
	}
	err = l.patiently(ctx, func() error { return c.custom.Transact(customConn{l, ctx}, kind, c.args) })
	if err == nil {
		c.counts.transactions.Add(1)
	}
	return err
}

// customConn executes custom SQL on a link, for one call and its context.
type customConn struct {
	*link
	ctx context.Context
}

// Run executes a statement and reads all of its rows.
func (c customConn) Run(s *customsql.Statement, values []any) error {
	st, err := c.custom(s)
	if err != nil {
		return err
	}
	return c.each(st, nil, values)
}

// Begin takes the write lock at once, because SQLite cannot wait for a lock that is requested later in a transaction.
func (c customConn) Begin(reads bool) error {
	if reads {
		return c.control("begin-read")
	}
	return c.locked(func() error { return c.control("begin") })
}

// Commit commits, and tries again while another connection's checkpoint blocks it.
func (c customConn) Commit() error { return c.end(c.ctx, "commit") }

// Rollback rolls back what SQLite has not rolled back itself.
func (c customConn) Rollback() error { return c.abandon() }

// mistaken adds the class to the error of a custom statement.
func mistaken(err error) error {
	switch c, ok := sqlitedriver.CodesOf(err); {
	case !ok:
		return err
	case c.Primary == sqlitedriver.Error || c.Primary == sqlitedriver.Auth:
		return &filewise.Classed{Class: filewise.ClassMistake, Err: err}
	case c.Extended == sqlitedriver.ConstraintUnique || c.Extended == sqlitedriver.ConstraintPrimaryKey:
		return &filewise.Classed{Class: filewise.ClassDuplicate, Err: err}
	case c.Primary == sqlitedriver.Constraint:
		return &filewise.Classed{Class: filewise.ClassConstraint, Err: err}
	}
	return err
}

// customSteps returns the transactions of the workload on file i.
func (s *shape) customSteps(i int) (script.Steps, error) {
	l := s.lister(filewise.StageMeasure, i)
	for _, p := range s.program.Phases {
		l.note(fmt.Sprintf("%s: %d connections", p.Operation, p.Connections))
	}
	p := s.program.Phases[0]
	for k, name := range p.Sections {
		all, err := customRules.Section(s.program.Custom, name)
		if err != nil {
			return nil, err
		}
		l.note("transaction " + p.Types[k])
		if len(all) > 1 {
			l.add("BEGIN IMMEDIATE")
		}
		for _, st := range all {
			l.add(st.Text)
		}
		if len(all) > 1 {
			l.add("COMMIT")
		}
	}
	return l.Steps()
}

// customChecks returns the workload's checks on file i.
func (s *shape) customChecks(i int) (script.Steps, error) {
	l := s.lister(filewise.StageCheck, i)
	checks, err := customRules.Checks(s.program.Custom)
	if err != nil {
		return nil, err
	}
	for _, q := range checks {
		l.add(strings.TrimSpace(q.Text))
	}
	return l.Steps()
}
