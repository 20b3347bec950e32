package innodb

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"

	"filewise"
	"filewise/engine/internal/ownsql"
)

// ownRules are how both servers write SQL.
var ownRules = ownsql.Rules{Backslash: true, Hash: true, Qualified: true}

// ownTables are the tables that the workload brings itself and the layout spreads.
func ownTables(l filewise.Layout, p filewise.Program) ([]Table, error) {
	var tables []Table
	for _, t := range p.Own.Tables {
		if OwnName(t.Name) {
			return nil, filewise.Errorf(filewise.CodeUsage, "give it another name", "custom: the name %s is one of Filewise's own", t.Name)
		}
		tables = append(tables, Table{Name: t.Name, Key: t.Key})
	}
	if len(tables) > 0 {
		return tables, nil
	}
	if l.Kind != filewise.KindSystem && l.Kind != "" {
		return nil, filewise.Errorf(filewise.CodeUsage, `name them by custom.tables, each with its key, or use kind "system"`,
			"custom names no tables, so kind %s has nothing to spread", l.Kind)
	}
	return []Table{{Name: rowsTable}}, nil // which is not created: the system tablespace holds whatever there is
}

// ownSetup is the workload's own set-up, in the schema's database.
func (s Schema) ownSetup() ([]string, error) {
	site := ownsql.Site{Shards: 1, Spread: map[string]ownsql.Place{}}
	for _, t := range s.Tables {
		site.Spread[t.Name] = ownsql.Place{Clause: t.Options}
	}
	all, err := ownRules.Setup(s.Program.Own, site)
	texts := []string{"USE " + Ident(s.Database)}
	for _, x := range all {
		texts = append(texts, x.Marked())
	}
	return texts, err
}

// ownSteps are its transactions and checks, for plans.
func (s Schema) ownSteps() ([]filewise.Step, error) { return ownRules.Steps(s.Program) }

// queryOwn asks a query of the workload's own.
func (q Querier) queryOwn(section string) ([]string, error) {
	x, err := ownRules.Query(q.Schema.Program.Own, section)
	return []string{"USE " + Ident(q.Schema.Database), x.Marked()}, err
}

// ownSession is a connection of a workload with SQL of its own.
type ownSession struct {
	*session
	typed      filewise.TypedArgs
	sections   [][]ownsql.Statement // by type
	raw        driver.Conn          // the driver's own, which is the session's alone
	statements map[*ownsql.Statement]driver.Stmt
	args       []any
	values     []any
	named      []driver.NamedValue
	row        []driver.Value
}

// newOwn readies a session with all its statements prepared, so that mistakes are
// found before the work.
func newOwn(ctx context.Context, s *session, p filewise.Phase) (_ filewise.Session, err error) {
	o := &ownSession{session: s, statements: map[*ownsql.Statement]driver.Stmt{}}
	var ok bool
	if o.typed, ok = p.Args.(filewise.TypedArgs); !ok || len(p.Sections) != len(p.Types) {
		return nil, errors.Join(fmt.Errorf("phase %s has no types of transactions", p.Family), s.Close())
	}
	for _, name := range p.Sections {
		all, err := ownRules.Section(s.schema.Program.Own, name)
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		o.sections = append(o.sections, all)
	}
	if err = s.ready(ctx); err == nil {
		err = s.conn.Raw(func(connection any) error {
			o.raw = connection.(driver.Conn)
			return o.prepareAll(ctx)
		})
	}
	if err != nil {
		return nil, errors.Join(Classify(s.link.Explain(err)), o.Close())
	}
	return o, nil
}

func (o *ownSession) prepareAll(ctx context.Context) error {
	p, ok := o.raw.(driver.ConnPrepareContext)
	if !ok {
		return fmt.Errorf("the driver's connection %T prepares no statements", o.raw)
	}
	for _, section := range o.sections {
		for i := range section {
			st, err := p.PrepareContext(ctx, section[i].Text)
			if err != nil {
				return fmt.Errorf("%s: %w", section[i].Place, err)
			}
			o.statements[&section[i]] = st
		}
	}
	if o.worker > 0 {
		return nil
	}
	return o.tryChecks(ctx, p)
}

// tryChecks finds mistakes in the queries of checks before the work too: a trial that is
// measured first would be lost. What cannot be prepared may yet be executed.
func (o *ownSession) tryChecks(ctx context.Context, p driver.ConnPrepareContext) error {
	checks, err := ownRules.Checks(o.schema.Program.Own)
	if err != nil {
		return err
	}
	for _, q := range checks {
		st, err := p.PrepareContext(ctx, q.Text)
		if n, _ := Number(err); n == errNotPrepared {
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", q.Place, err)
		}
		if err := st.Close(); err != nil {
			return err
		}
	}
	return nil
}

// Do executes n transactions. When the context ends, the statement that runs is
// interrupted on the server.
func (o *ownSession) Do(ctx context.Context, first, n int64) (done int64, err error) {
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	over, told := make(chan struct{}), make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(told)
		o.interrupt(over)
	})
	o.host.Touched()
	defer o.host.Touched()
	for done < n && err == nil && ctx.Err() == nil {
		if err = o.one(first + done); err == nil {
			done++
		}
	}
	close(over)
	if !stop() {
		<-told
	}
	switch {
	case err == nil:
		return done, context.Cause(ctx)
	case ctx.Err() != nil && interrupted(err):
		return done, context.Cause(ctx)
	}
	return done, Classify(o.link.Explain(fmt.Errorf("connection %d, transaction %d: %w", o.worker, first+done, err)))
}

func (o *ownSession) one(i int64) (err error) {
	o.args = o.typed.Args(o.args[:0], o.worker, i)
	o.values, err = ownsql.Transaction(o, o.sections[o.typed.TypeOf(o.worker, i)], o.args, o.values)
	return err
}

// Run executes a statement and reads its rows to the end.
func (o *ownSession) Run(s *ownsql.Statement, values []any) error {
	o.named = o.named[:0]
	for i, v := range values {
		o.named = append(o.named, driver.NamedValue{Ordinal: i + 1, Value: v})
	}
	rows, err := o.statements[s].(driver.StmtQueryContext).QueryContext(context.Background(), o.named)
	if err != nil {
		return err
	}
	width := len(rows.Columns())
	if width > len(o.row) {
		o.row = make([]driver.Value, width)
	}
	for err == nil && width > 0 {
		err = rows.Next(o.row[:width])
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, rows.Close())
}

// Begin begins a transaction.
func (o *ownSession) Begin(bool) error { return o.control("START TRANSACTION") }

// Commit commits it.
func (o *ownSession) Commit() error { return o.control("COMMIT") }

// Rollback rolls back what the server has not rolled back itself. An interrupt that
// came late may hit the first attempt.
func (o *ownSession) Rollback() (err error) {
	for range 3 {
		if err = o.control("ROLLBACK"); err == nil || !interrupted(err) {
			break
		}
	}
	if errors.Is(err, driver.ErrBadConn) {
		return nil // the connection is gone, and the transaction with it
	}
	return err
}

func (o *ownSession) control(sql string) error {
	_, err := o.raw.(driver.ExecerContext).ExecContext(context.Background(), sql, nil)
	return err
}

// Close ends the connection. Closing again does nothing.
func (o *ownSession) Close() error {
	for _, st := range o.statements {
		_ = st.Close() // of a dead server; it is gone either way
	}
	o.statements = nil
	return o.session.Close()
}
