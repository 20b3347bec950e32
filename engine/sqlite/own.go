package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"filewise"
	"filewise/engine/internal/ownsql"
	"filewise/internal/sqlitedriver"
)

// ownRules are how SQLite writes SQL.
var ownRules = ownsql.Rules{Brackets: true}

// ownSetup are the statements that make the workload's own tables in file i: each
// file is a database of its own, and has them all.
func (s *shape) ownSetup(i int) ([]string, error) {
	all, err := ownRules.Setup(s.program.Own, ownsql.Site{Shard: i, Shards: s.count})
	var texts []string
	for _, x := range all {
		texts = append(texts, x.Text)
	}
	return texts, err
}

// ownTables are the names of the workload's tables, one at least.
func ownTables(p filewise.Program) []string {
	var names []string
	for _, t := range p.Own.Tables {
		names = append(names, t.Name)
	}
	if len(names) == 0 {
		names = []string{"own"}
	}
	return names
}

// createOwn executes the set-up in a new file, within the transaction that the
// caller has begun.
func (s *shape) createOwn(ctx context.Context, f *file) error {
	at := slices.IndexFunc(s.shards, func(sh shard) bool { return sh.path == f.path })
	all, err := ownRules.Setup(s.program.Own, ownsql.Site{Shard: at, Shards: s.count})
	if err != nil {
		return err
	}
	for _, x := range all {
		if err := f.keeper.exec(ctx, x.Text); err != nil {
			return fmt.Errorf("%s: %w", x.Place, mistaken(err))
		}
	}
	return nil
}

// queryOwn asks a query of the workload's own in every file.
func (d *database) queryOwn(ctx context.Context, section string) ([][]any, error) {
	q, err := ownRules.Query(d.program.Own, section)
	if err != nil {
		return nil, err
	}
	results := make([][][]any, len(d.files))
	err = d.each(ctx, func(ctx context.Context, i int, f *file) (err error) {
		if results[i], err = f.keeper.query(ctx, q.Text); err != nil {
			return fmt.Errorf("%s: %w", q.Place, mistaken(err))
		}
		return nil
	})
	return slices.Concat(results...), err
}

// ownSession is a connection of a workload with SQL of its own: to the files that
// are the worker's, or to the one that a parameter of the transaction says.
type ownSession struct {
	d        *database
	counts   *counts
	typed    filewise.TypedArgs
	worker   int
	sections [][]ownsql.Statement // by type
	shardBy  []int                // of each type: the argument that says the file; −1: none does
	files    []*ownFile           // by number, opened when they are needed
	args     []any
	values   []any
}

// ownFile is a session's connection to one file.
type ownFile struct {
	*conn
	s          *ownSession
	ctx        context.Context // of the call that runs
	statements map[*ownsql.Statement]driver.Stmt
	named      []driver.NamedValue
	row        []driver.Value
}

func (d *database) connectOwn(phase, worker int) (filewise.Session, error) {
	p := d.program.Phases[phase]
	typed, ok := p.Args.(filewise.TypedArgs)
	if !ok || len(p.Sections) != len(p.Types) {
		return nil, fmt.Errorf("phase %s has no types of transactions", p.Family)
	}
	s := &ownSession{d: d, counts: new(counts), typed: typed, worker: worker, files: make([]*ownFile, d.count)}
	for _, name := range p.Sections {
		all, err := ownRules.Section(d.program.Own, name)
		if err != nil {
			return nil, err
		}
		s.sections = append(s.sections, all)
		s.shardBy = append(s.shardBy, slices.Index(d.program.Own.Sections[name].Params, d.program.Own.ShardBy))
	}
	d.orderCounts = append(d.orderCounts, s.counts)
	_, err := s.file(s.own()[0]) // a file that cannot be opened is told now
	if err == nil {
		err = s.prepareAll(s.files[s.own()[0]])
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// prepareAll finds mistakes in statements before the work begins; in those of checks
// too, for which one connection suffices.
func (s *ownSession) prepareAll(f *ownFile) error {
	if s.worker == 0 {
		checks, err := ownRules.Checks(s.d.program.Own)
		if err != nil {
			return err
		}
		for _, q := range checks {
			st, err := f.PrepareContext(background, q.Text)
			if err != nil {
				return fmt.Errorf("%s: %w", q.Place, mistaken(err))
			}
			if err := st.Close(); err != nil {
				return err
			}
		}
	}
	for _, section := range s.sections {
		for i := range section {
			if _, err := f.prepare(&section[i]); err != nil {
				return fmt.Errorf("%s: %w", section[i].Place, mistaken(err))
			}
		}
	}
	return nil
}

// mistaken gives the failure of a statement of the user's own its class.
func mistaken(err error) error {
	switch c, ok := sqlitedriver.CodesOf(err); {
	case !ok:
		return err
	case c.Primary == sqlitedriver.Error || c.Primary == sqlitedriver.Auth:
		return &filewise.Classed{Class: filewise.ClassMistake, Err: err}
	case c.Primary == sqlitedriver.Constraint:
		return &filewise.Classed{Class: filewise.ClassConstraint, Err: err}
	}
	return err
}

// own are the files that are the worker's, where no parameter says the file.
func (s *ownSession) own() []int { return s.d.filesOf(s.worker) }

// fileOf is the file of an operation: by its parameter, or the worker's files in
// turns.
func (s *ownSession) fileOf(kind int, i int64) int {
	if at := s.shardBy[kind]; at >= 0 && at < len(s.args) {
		if key, ok := s.args[at].(int64); ok {
			n := int64(s.d.count)
			return int((key%n + n) % n)
		}
	}
	own := s.own()
	return own[int(i%int64(len(own)))]
}

func (s *ownSession) file(at int) (*ownFile, error) {
	if f := s.files[at]; f != nil {
		return f, nil
	}
	c, err := s.d.connect(s.d.shards[at])
	if err != nil {
		return nil, err
	}
	s.files[at] = &ownFile{conn: c, s: s, statements: map[*ownsql.Statement]driver.Stmt{}}
	return s.files[at], nil
}

// Do executes n transactions.
func (s *ownSession) Do(ctx context.Context, first, n int64) (int64, error) {
	for done := range n {
		err := ctx.Err()
		if err == nil {
			err = s.one(ctx, first+done)
		}
		if err != nil {
			return done, fmt.Errorf("connection %d, transaction %d: %w", s.worker, first+done, mistaken(explain(err)))
		}
	}
	return n, nil
}

// one executes a transaction, again while other connections hold its locks.
func (s *ownSession) one(ctx context.Context, i int64) error {
	kind := s.typed.TypeOf(s.worker, i)
	s.args = s.typed.Args(s.args[:0], s.worker, i)
	f, err := s.file(s.fileOf(kind, i))
	if err != nil {
		return err
	}
	f.ctx = ctx
	for {
		s.values, err = ownsql.Transaction(f, s.sections[kind], s.args, s.values)
		if !isBusy(err) || ctx.Err() != nil {
			break
		}
		s.counts.timeouts.Add(1)
	}
	if err == nil {
		s.counts.transactions.Add(1)
	}
	return err
}

func (f *ownFile) prepare(s *ownsql.Statement) (driver.Stmt, error) {
	if st := f.statements[s]; st != nil {
		return st, nil
	}
	st, err := f.PrepareContext(background, s.Text)
	if err != nil {
		return nil, fmt.Errorf("preparing %s: %w", firstLine(s.Text), err)
	}
	f.statements[s] = st
	return st, nil
}

// Run executes a statement and reads its rows to the end.
func (f *ownFile) Run(s *ownsql.Statement, values []any) error {
	st, err := f.prepare(s)
	if err != nil {
		return err
	}
	f.named = f.named[:0]
	for i, v := range values {
		f.named = append(f.named, driver.NamedValue{Ordinal: i + 1, Value: v})
	}
	rows, err := st.(driver.StmtQueryContext).QueryContext(background, f.named)
	if err != nil {
		return err
	}
	if n := len(rows.Columns()); n > len(f.row) {
		f.row = make([]driver.Value, n)
	}
	for row := f.row[:len(rows.Columns())]; err == nil; {
		err = rows.Next(row)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, rows.Close())
}

// Begin takes the write lock at once: one that is asked for later cannot be waited
// for.
func (f *ownFile) Begin(reads bool) error {
	if reads {
		return f.control("BEGIN")
	}
	start := f.s.counts.lock.begin()
	defer func() { f.s.counts.lock.end(start, leastLock) }()
	return f.control("BEGIN IMMEDIATE")
}

// Commit tries again while a checkpoint of another connection is in the way.
func (f *ownFile) Commit() error {
	start := f.s.counts.log.begin()
	defer func() { f.s.counts.log.end(start, leastLog) }()
	for {
		err := f.control("COMMIT")
		if !isBusy(err) || f.ctx.Err() != nil {
			return err
		}
	}
}

// Rollback rolls back what SQLite has not rolled back itself.
func (f *ownFile) Rollback() error {
	if f.AutoCommit() {
		return nil
	}
	return f.control("ROLLBACK")
}

func (f *ownFile) control(sql string) error {
	_, err := f.ExecContext(background, sql, nil)
	return err
}

// Close closes the connections. Closing again does nothing.
func (s *ownSession) Close() error {
	var errs []error
	for i, f := range s.files {
		if f == nil {
			continue
		}
		for _, st := range f.statements {
			errs = append(errs, st.Close())
		}
		errs = append(errs, f.conn.Close())
		s.files[i] = nil
	}
	return errors.Join(errs...)
}

// ownSteps are the transactions of the workload on file i.
func (s *shape) ownSteps(i int) ([]filewise.Step, error) {
	l := lister{stage: filewise.StageMeasure, on: s.shards[i].path}
	for _, p := range s.program.Phases {
		l.note(fmt.Sprintf("%s: %d connections", p.Family, p.Connections))
	}
	p := s.program.Phases[0]
	for k, name := range p.Sections {
		all, err := ownRules.Section(s.program.Own, name)
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
	return l.steps, l.err
}

// ownChecks are its checks.
func (s *shape) ownChecks(i int) ([]filewise.Step, error) {
	l := lister{stage: filewise.StageCheck, on: s.shards[i].path}
	checks, err := ownRules.Checks(s.program.Own)
	if err != nil {
		return nil, err
	}
	for _, q := range checks {
		l.add(strings.TrimSpace(q.Text))
	}
	return l.steps, l.err
}
