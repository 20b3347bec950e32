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

// customRules describes how SQLite writes SQL.
var customRules = customsql.Rules{Brackets: true}

// listSetup lists the statements that make the tables of custom SQL in file i: each file
// is a database by itself, and has them all. The place of each in the study file is in
// its section's place.
func (s *shape) listSetup(l *lister, i int) {
	all, err := customRules.Setup(s.program.Custom, customsql.Site{Shard: i, Shards: s.count})
	l.addAll(nil, err)
	for _, x := range all {
		l.Rendered(l.stage, l.on, x.Place, []string{x.Text}, nil)
	}
}

// customTables returns the names of the workload's tables, one at least.
func customTables(p filewise.Program) []string {
	names := filewise.Each(p.Custom.Tables, func(t filewise.CustomTable) string { return t.Name })
	if len(names) == 0 {
		names = []string{"custom"}
	}
	return names
}

// queryCustom runs a query of custom SQL in every file.
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

// custom prepares a worker with custom SQL, to rehearse it or to work.
func (w *worker) custom(rehearse bool) error {
	c := &customWorker{worker: w}
	w.Noun = "transaction"
	w.Explain = func(err error) error { return mistaken(explain(err)) }
	custom := w.d.program.Custom
	for _, name := range w.Phase.Sections {
		c.shardBy = append(c.shardBy, slices.Index(custom.Sections[name].Params, custom.ShardBy))
	}
	l, err := w.link(w.d.filesOf(w.Worker)[0]) // a file that cannot be opened is reported now
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

// customWorker executes custom SQL: on the files that are the worker's, or on the one that
// a parameter of the transaction names.
type customWorker struct {
	*worker
	custom  customsql.Session
	shardBy []int // of each type: the argument that names the file. −1 means none does
}

// custom prepares a statement.
func (l *link) custom(s *customsql.Statement) (driver.Stmt, error) {
	return l.prepare(s, func() (string, error) { return s.Text, nil })
}

// fileOf returns the file of an operation: by its parameter, or the worker's files in
// turns.
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

// rehearse executes one, and rolls it back.
func (c *customWorker) rehearse(ctx context.Context, i int64) error {
	c.args = c.Args(c.args[:0], i)
	l, err := c.link(c.fileOf(c.Type(i), i))
	if err != nil {
		return err
	}
	return l.patiently(ctx, func() error { return c.custom.Rehearse(customConn{l, ctx}, c.Type(i), c.args) })
}

// transaction executes one, again while other connections hold its locks.
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

// customConn is a link as package customsql takes it, for a call with that context.
type customConn struct {
	*link
	ctx context.Context
}

// Run executes a statement and reads its rows to the end.
func (c customConn) Run(s *customsql.Statement, values []any) error {
	st, err := c.custom(s)
	if err != nil {
		return err
	}
	return c.each(st, nil, values)
}

// Begin takes the write lock at once: one that is requested later cannot be waited
// for.
func (c customConn) Begin(reads bool) error {
	if reads {
		return c.control("begin-read")
	}
	return c.locked(func() error { return c.control("begin") })
}

// Commit tries again while a checkpoint of another connection is in the way.
func (c customConn) Commit() error { return c.end(c.ctx, "commit") }

// Rollback rolls back what SQLite has not rolled back itself.
func (c customConn) Rollback() error { return c.abandon() }

// mistaken gives the failure of a statement of custom SQL its class.
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
		l.note(fmt.Sprintf("%s: %d connections", p.Family, p.Connections))
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

// customChecks returns its checks.
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
