package sqlserver

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"filewise"
	"filewise/engine/customsql"
	"filewise/internal/marker"
)

// customRules describes the syntax of T-SQL.
var customRules = customsql.Rules{Transact: true, Numbered: "@p", Guard: guardCustom, Adapt: terminated}

// UserSQL returns the rules for reading users' SQL.
func (Engine) UserSQL() customsql.Rules { return customRules }

// terminated ends a statement with a semicolon, which MERGE needs.
func terminated(text string, _ bool) (string, error) {
	if strings.Contains(strings.ToUpper(text), "MERGE") {
		text += ";"
	}
	return text, nil
}

// custom reports whether the workload brings custom SQL.
func (d *design) custom() bool { return d.program.Custom != nil }

// checkCustom refuses custom SQL that cannot run with this layout.
func (d *design) checkCustom() error {
	switch l := d.layout; {
	case l.AddedLater != "":
		return unsupported("use scenario inserts", "files added later in workload %s on sqlserver", d.program.Workload)
	case d.program.Restored():
		return d.checkRestored()
	case l.Indexes == filewise.IndexesApart:
		return unsupported("leave --indexes out", "indexes apart in workload %s on sqlserver, whose indexes its set-up makes", d.program.Workload)
	}
	return nil
}

// customSetup returns the workload's set-up statements, each as a batch.
func (d *design) customSetup() ([]string, error) {
	site := customsql.Site{Shards: 1, Spread: map[string]customsql.Place{}}
	for _, t := range d.program.Custom.Tables {
		site.Spread[t.Name] = customsql.Place{Clause: "ON [PRIMARY]"}
	}
	return customRules.Texts(d.program.Custom, site)
}

// forCustom reports whether a marker belongs to a database for custom SQL, which can hold anything.
func forCustom(name, text string) bool {
	m, err := marker.Parse(name, text)
	return err == nil && m.Custom
}

// queryCustom returns the statements of a query of custom SQL.
func (d *design) queryCustom(section string) ([]string, error) {
	x, err := customRules.Query(d.program.Custom, section)
	return []string{x.Marked()}, err
}

// customCall executes custom SQL on a connection, for one call.
type customCall struct {
	*connection
	ctx context.Context
}

// Run executes a statement and reads all of its rows.
func (c customCall) Run(x *customsql.Statement, values []any) error {
	_, err := c.conn.ExecContext(c.ctx, x.Text, values...)
	return err
}

const beginTransaction, commitTransaction = "BEGIN TRANSACTION", "COMMIT TRANSACTION"

// Begin begins a transaction.
func (c customCall) Begin(bool) error { return exec(c.ctx, c.conn, beginTransaction) }

// Commit commits the transaction.
func (c customCall) Commit() error { return exec(c.ctx, c.conn, commitTransaction) }

// Rollback rolls back what an error has not rolled back. If the call's context has ended, the session does so.
func (c customCall) Rollback() error {
	if c.ctx.Err() == nil {
		return c.rollback(c.ctx)
	}
	return nil
}

// readyCustom has the server compile all statements, so that mistakes are found before the work.
func (s *connection) readyCustom(ctx context.Context) error {
	compile := func(x *customsql.Statement) error { return s.compile(ctx, x) }
	return s.custom.Prepare(customRules, s.build.design.program.Custom, s.Session, filewise.Rehearses(ctx), compile, compile)
}

// sampled is the number of operations that are searched for one of each type.
const sampled = 1 << 16

// compile has the server compile a statement and resolve its names, without executing it. If a type is too rare to have
// sample values, its statement is compiled when it is executed.
func (s *connection) compile(ctx context.Context, x *customsql.Statement) error {
	var args []any
	if kind := slices.Index(s.Phase.Sections, x.Section); kind >= 0 {
		i := int64(0)
		for i < sampled && s.Type(i) != kind {
			i++
		}
		if i == sampled {
			return nil
		}
		args = x.Values(nil, s.Phase.Args.Args(nil, s.Worker, i))
	}
	text := declared(args) + x.Text
	if err := exec(ctx, s.conn, "SET NOEXEC ON", text, "SET NOEXEC OFF"); err != nil {
		return fmt.Errorf("%s: %w", x.Place, err)
	}
	return s.named(ctx, x.Place, text)
}

// named finds missing tables. The server compiles a statement about a missing table without an error, and looks for the
// table only on execution (deferred name resolution). It makes a plan only if the tables exist. A plan with temporary
// tables can be made only during the work. If an account cannot see plans, other missing tables also show then.
func (s *connection) named(ctx context.Context, place, text string) error {
	if strings.Contains(text, "#") {
		return nil
	}
	if _, err := s.conn.ExecContext(ctx, showPlans); err != nil {
		return nil //nolint:nilerr // nil for the reasons above
	}
	_, found := s.conn.ExecContext(ctx, text)
	if err := exec(ctx, s.conn, "SET SHOWPLAN_XML OFF"); err != nil {
		return err
	}
	if hasNumber(found, errNoObject) {
		return fmt.Errorf("%s: %w", place, found)
	}
	return nil
}

// declared declares parameters as the driver does, except for the length of texts.
func declared(args []any) string {
	var all []string
	for i, v := range args {
		kind := "nvarchar(4000)"
		switch v.(type) {
		case int64:
			kind = "bigint"
		case float64:
			kind = "float"
		}
		all = append(all, fmt.Sprintf("@p%d %s", i+1, kind))
	}
	if len(all) == 0 {
		return ""
	}
	return "DECLARE " + strings.Join(all, ", ") + ";\n"
}
