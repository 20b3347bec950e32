package oracle

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	"filewise"
	"filewise/engine/customsql"
)

// UserSQL returns the rules for reading users' SQL.
func (Engine) UserSQL() customsql.Rules {
	r := userNames{}.Plain()
	r.Qualified = true
	return r
}

// isCustom reports whether the workload brings custom SQL.
func (d *design) isCustom() bool { return d.program.Custom != nil }

// checkCustom refuses custom SQL that cannot run with this layout.
func (d *design) checkCustom() error {
	switch {
	case d.layout.AddedLater != "":
		return absent("use scenario inserts", "files added later in workload %s on oracle", d.program.Workload)
	case d.isCopy():
		return d.checkCopy()
	}
	return nil
}

// customSetup returns the workload's set-up statements.
func (d *design) customSetup() ([]string, error) {
	site := customsql.Site{Shards: 1, Spread: map[string]customsql.Place{}}
	for _, t := range d.program.Custom.Tables {
		site.Spread[t.Name] = customsql.Place{Clause: `TABLESPACE "` + d.names.Tablespace + `"`}
	}
	all, err := d.custom.Rules().Setup(d.program.Custom, site)
	texts := filewise.Each(all, unquoted)
	return texts, err
}

// unquoted returns a statement's text with its place, in which quotes are removed. The driver would take a quote for
// one of the statement's.
func unquoted(x customsql.Statement) string {
	x.Place = strings.NewReplacer("'", "", `"`, "").Replace(x.Place)
	return x.Marked()
}

// custom adds the transactions, which the server begins by itself, and the checks.
func (s stepper) custom() {
	s.d.custom.Rules().Write(s.Writer, onServer, s.d.program, "", s.d.commit)
}

// customSession executes custom SQL on one connection.
type customSession struct {
	*connection
	custom customsql.Session
	rules  customsql.Rules
	tx     driver.Tx // open while the driver does not commit each statement; else nil
}

// newCustom prepares a session. On the first connection the server parses all statements, so that mistakes are found
// before the work.
func newCustom(ctx context.Context, s *connection) (*customSession, error) {
	o := &customSession{connection: s, rules: s.build.design.custom.Rules()}
	o.One, o.Noun = o.one, "transaction"
	o.Try = func(ctx context.Context, i int64) error {
		return o.custom.Try(&customCall{customSession: o, ctx: ctx}, o.Session, i)
	}
	if !o.waits() {
		if err := o.begin(ctx); err != nil {
			return nil, err
		}
	}
	parse := func(x *customsql.Statement) error {
		if s.Worker > 0 {
			return nil
		}
		if err := exec(ctx, s.held, "parse", nil, x.Text); err != nil {
			return fmt.Errorf("%s: %w", x.Place, err)
		}
		return nil
	}
	return o, o.custom.Prepare(o.rules, s.build.design.program.Custom, s.Session, filewise.Rehearses(ctx), parse, parse)
}

// waits reports whether a commit waits for the log. The driver's own commit does. If commits are not to wait, a COMMIT
// statement ends each transaction.
func (o *customSession) waits() bool {
	return o.build.design.target.Durability != filewise.DurabilityNormal
}

func (o *customSession) begin(ctx context.Context) (err error) {
	o.tx, err = o.held.begin(ctx)
	return err
}

func (o *customSession) one(ctx context.Context, i int64) error {
	call := &customCall{customSession: o, ctx: ctx}
	err := o.custom.Do(call, o.Session, i)
	if err == nil && !call.begun && !o.waits() {
		err = call.Commit()
	}
	return err
}

// customCall executes one transaction of custom SQL on a session.
type customCall struct {
	*customSession
	ctx   context.Context
	begun bool
}

// Run executes a statement and reads all of its rows.
func (c *customCall) Run(x *customsql.Statement, values []any) error {
	s := statement{section: "custom", text: x.Text, args: values}
	if !x.Reads() && !strings.HasPrefix(strings.ToUpper(x.Text), "WITH") {
		return c.held.often.exec(c.ctx, s)
	}
	_, err := c.held.often.rows(c.ctx, s)
	return err
}

// Begin stops the driver from committing each statement.
func (c *customCall) Begin(bool) error {
	c.begun = true
	if c.tx != nil {
		return nil
	}
	return c.begin(c.ctx)
}

// Commit commits the transaction.
func (c *customCall) Commit() error {
	if !c.waits() {
		return c.held.often.exec(c.ctx, statement{section: "custom", text: c.build.design.commit})
	}
	tx := c.tx
	c.tx = nil
	return c.build.server.pool.why(c.ctx, statement{text: "COMMIT"}, tx.Commit())
}

// Rollback rolls back what an error has not rolled back. If the connection broke or was interrupted, the session ends
// the transaction.
func (c *customCall) Rollback() error {
	if !c.waits() {
		return exec(c.ctx, c.held, "rollback", nil)
	}
	if c.tx == nil {
		return nil
	}
	err := c.tx.Rollback()
	c.tx = nil
	if errors.Is(err, driver.ErrBadConn) {
		return nil
	}
	return err
}
