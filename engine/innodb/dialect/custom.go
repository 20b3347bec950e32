package dialect

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync/atomic"

	"filewise"
	"filewise/engine/customsql"
)

// CustomRules describes the SQL syntax of both servers.
var CustomRules = customsql.Rules{Backslash: true, Hash: true, Qualified: true}

// customTables returns the tables of custom SQL over which the layout has control.
func customTables(l filewise.Layout, p filewise.Program) ([]Table, error) {
	var tables []Table
	for _, t := range p.Custom.Tables {
		if KnownName(t.Name) {
			return nil, filewise.Errorf(filewise.CodeUsage, "give it another name", "custom: the name %s is reserved for Filewise", t.Name)
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
	return []Table{{Name: rowsTable}}, nil // never created, because the system tablespace holds all tables
}

// customSetup returns the workload's set-up statements for the schema's database.
func (s Schema) customSetup() ([]string, error) {
	site := customsql.Site{Shards: 1, Spread: map[string]customsql.Place{}}
	for _, t := range s.Tables {
		site.Spread[t.Name] = customsql.Place{Clause: t.Options}
	}
	texts, err := CustomRules.Texts(s.Program.Custom, site)
	return append([]string{"USE " + Ident(s.Database)}, texts...), err
}

// queryCustom returns the statements of a query of custom SQL.
func (q Querier) queryCustom(section string) ([]string, error) {
	x, err := CustomRules.Query(q.Schema.Program.Custom, section)
	return []string{"USE " + Ident(q.Schema.Database), x.Marked()}, err
}

// customSession executes custom SQL on one connection.
type customSession struct {
	*connection
	custom     customsql.Session
	raw        driver.Conn // the driver's connection, which only this session uses
	statements map[*customsql.Statement]driver.Stmt
	named      []driver.NamedValue
	row        []driver.Value
}

// newCustom prepares a session and all of its statements, so that mistakes are found before the work begins.
func newCustom(ctx context.Context, s *connection) (_ filewise.Session, err error) {
	o := &customSession{connection: s, statements: map[*customsql.Statement]driver.Stmt{}}
	o.One, o.Noun = o.one, "transaction"
	o.Try = func(_ context.Context, i int64) error { return o.custom.Try(o, o.Session, i) }
	o.Interrupted = func(err error) bool { return interrupted(err) || errors.Is(err, errEnding) }
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	o.closeFirst(o.closeStatements)
	return o, s.conn.Raw(func(connection any) error {
		o.raw = connection.(driver.Conn)
		return o.prepareAll(ctx)
	})
}

func (o *customSession) closeStatements() error {
	var errs []error
	for _, st := range o.statements {
		errs = append(errs, st.Close())
	}
	o.statements = nil
	return errors.Join(errs...)
}

// prepareAll prepares the transactions and tries the checks. A check that cannot be prepared can still be executable.
func (o *customSession) prepareAll(ctx context.Context) error {
	p, ok := o.raw.(driver.ConnPrepareContext)
	if !ok {
		return fmt.Errorf("the driver's connection %T prepares no statements", o.raw)
	}
	prepare := func(x *customsql.Statement) (driver.Stmt, error) {
		st, err := p.PrepareContext(ctx, x.Text)
		if err != nil {
			err = fmt.Errorf("%s: %w", x.Place, err)
		}
		return st, err
	}
	return o.custom.Prepare(CustomRules, o.schema.Program.Custom, o.Session, filewise.Rehearses(ctx), func(x *customsql.Statement) error {
		st, err := prepare(x)
		if err == nil {
			o.statements[x] = st
		}
		return err
	}, func(x *customsql.Statement) error {
		st, err := prepare(x)
		switch {
		case is(err, errNotPrepared):
			return nil
		case err != nil:
			return err
		}
		return st.Close()
	})
}

func (o *customSession) one(_ context.Context, i int64) error { return o.custom.Do(o, o.Session, i) }

// Run executes a statement and reads all of its rows.
func (o *customSession) Run(s *customsql.Statement, values []any) error {
	o.named = o.named[:0]
	for i, v := range values {
		o.named = append(o.named, driver.NamedValue{Ordinal: i + 1, Value: v})
	}
	rows, err := o.statements[s].(driver.StmtQueryContext).QueryContext(context.Background(), o.named)
	if err != nil {
		return err
	}
	o.row, err = drain(rows, o.row)
	return err
}

// Begin begins a transaction.
func (o *customSession) Begin(bool) error { return o.control("START TRANSACTION") }

// Commit commits the transaction, unless the session had to end: MariaDB may then have skipped a DELETE silently,
// see client.found.
func (o *customSession) Commit() error {
	if o.Ending() {
		return errEnding
	}
	return o.control("COMMIT")
}

var errEnding = errors.New("the transaction got a request to end")

// Rollback rolls back what the server has not rolled back itself. An interrupt that came late can hit the first
// attempt, so Rollback tries again.
func (o *customSession) Rollback() (err error) {
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

func (o *customSession) control(sql string) error {
	_, err := o.raw.(driver.ExecerContext).ExecContext(context.Background(), sql, nil)
	return err
}

// churned numbers the tables that are created and dropped, over all of this process's builds.
var churned atomic.Int64

// churnNumber is the placeholder for a table's number in the statements.
const churnNumber = "NUMBER"

// churn creates, fills and drops tables.
type churn struct {
	statements [][]string // by place
	drop       string
}

// newChurn returns nil if the program creates and drops no tables.
func (s Schema) newChurn() (*churn, error) {
	if !s.Program.Churns() {
		return nil, nil
	}
	var c churn
	for _, spot := range append([]string{s.firstSpot()}, s.Spots[min(1, len(s.Spots)):]...) {
		all, err := s.churnStatements(churnNumber, spot)
		if err != nil {
			return nil, err
		}
		if len(all) == 0 {
			return nil, filewise.Errorf(filewise.CodeInternal, "", "section %s has no statement", SectionChurn)
		}
		c.statements = append(c.statements, all)
		c.drop = strings.Replace(all[len(all)-1], "DROP TABLE ", "DROP TABLE IF EXISTS ", 1)
	}
	return &c, nil
}

// firstSpot returns the place of the first table that is created and dropped.
func (s Schema) firstSpot() string {
	if len(s.Spots) == 0 {
		return ""
	}
	return s.Spots[0]
}

// churnStatements renders section churn for a table's number and place.
func (s Schema) churnStatements(number, spot string) ([]string, error) {
	vars := map[string]any{"Number": number, "Directory": spot}
	maps.Copy(vars, s.Program.Vars())
	all, err := sections[s.Program.SQL()].Statements(SectionChurn, vars)
	if err != nil {
		return nil, filewise.Errorf(filewise.CodeInternal, "", "%w", err)
	}
	return s.signed(all), nil
}

// createAndDropTable creates, fills and drops a table with a new number. The table is dropped even if it cannot be
// filled.
func (c *churn) createAndDropTable(to executor) error {
	n := churned.Add(1)
	number := strconv.FormatInt(n, 10)
	for i, statement := range c.statements[n%int64(len(c.statements))] {
		_, err := to.Exec(strings.ReplaceAll(statement, churnNumber, number), nil)
		if err == nil {
			continue
		}
		if _, answered := Number(err); i > 0 && answered {
			_, end := to.Exec(strings.ReplaceAll(c.drop, churnNumber, number), nil)
			err = errors.Join(err, end)
		}
		return err
	}
	return nil
}
