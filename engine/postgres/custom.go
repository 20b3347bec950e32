package postgres

import (
	"context"
	"errors"
	"strconv"

	"filewise"
	"filewise/engine/customsql"
	"filewise/engine/internal/dumpfile"
	"filewise/engine/postgres/dialect"
)

// UserSQL returns the rules for reading users' SQL.
func (Engine) UserSQL() customsql.Rules { return dialect.CustomRules }

// custom reports whether the workload brings custom SQL.
func (d *design) custom() bool { return d.program.Custom != nil }

// checkCustom refuses custom SQL that cannot run with this layout.
func (d *design) checkCustom() error {
	switch {
	case d.layout.AddedLater != "":
		return refuse("use scenario inserts", "files added later in workload %s on PostgreSQL", d.program.Workload)
	case d.program.Restored() && d.target.Mode == filewise.External:
		return refuse("measure it on a managed server: --engine postgres", "a dump on an existing server")
	case len(d.program.Custom.Tables) == 0:
		return refuse("name them by custom.tables, each with its key",
			"custom names no tables, so there is nothing that the layout could spread")
	}
	return nil
}

// layCustom spreads the tables that the layout names: over partitions, or whole over its volumes in turn.
func (d *design) layCustom() {
	for i, t := range d.program.Custom.Tables {
		d.tables = append(d.tables, d.laid(table{Name: t.Name}, i))
	}
}

// customSetup returns the workload's set-up statements.
func (d *design) customSetup() ([]string, error) {
	if d.program.Restored() {
		return []string{dumpfile.Step(d.program.Custom)}, nil
	}
	return dialect.CustomRules.Texts(d.program.Custom, d.customSite(""))
}

// customSite returns the places of the workload's tables. Partitions are created right after their table; if indexes
// have a tablespace, it is made the default for them. with holds storage parameters, which a partitioned table passes
// on to its partitions.
func (d *design) customSite(with string) customsql.Site {
	site := customsql.Site{Shards: 1, Spread: map[string]customsql.Place{}}
	for i, t := range d.tables {
		leaf := t.Leaves[0]
		if !t.Partitioned {
			site.Spread[t.Name] = customsql.Place{Clause: with + leaf.Options}
			continue
		}
		place := customsql.Place{Clause: "PARTITION BY HASH (" + dialect.Ident(d.program.Custom.Tables[i].Key) + ")"}
		for _, leaf := range t.Leaves {
			if leaf.index.name != "" {
				place.After = append(place.After, "SET default_tablespace = "+dialect.Ident(leaf.index.name))
			} else {
				place.After = append(place.After, "RESET default_tablespace") // undoes what the previous partition has set
			}
			place.After = append(place.After, "CREATE TABLE "+dialect.Table(leaf.Name)+" PARTITION OF "+dialect.Table(leaf.Of)+" "+
				leaf.Values+with+leaf.Options)
		}
		place.After = append(place.After, "RESET default_tablespace")
		site.Spread[t.Name] = place
	}
	return site
}

// matchCustom sets the role and volume of a relation that the layout did not place. The user's own set-up has put it
// somewhere.
func (d *design) matchCustom(r *relation) {
	r.role, r.volume = filewise.RoleSystem, d.spaces[0].volume.Name
	for _, s := range d.spaces {
		if s.name == r.space {
			r.volume = s.volume.Name
		}
	}
}

// customSession executes custom SQL on one connection.
type customSession struct {
	connection
	custom customsql.Session
	names  map[*customsql.Statement]string
}

// newCustom opens a connection and prepares all statements on it.
func newCustom(ctx context.Context, c connection) (_ filewise.Session, err error) {
	s := &customSession{connection: c, names: map[*customsql.Statement]string{}}
	s.join()
	s.One, s.Noun = s.one, "transaction"
	s.Try = func(_ context.Context, i int64) error { return s.custom.Try(s, s.Session, i) }
	var setup []string
	if path := s.build.design.target.Settings["search_path"]; path != "" { // sessions set search_path for Filewise's own SQL
		setup = append(setup, "SET search_path = "+path)
	}
	if err = s.open(ctx, setup...); err == nil {
		of := s.build.design.program.Custom
		err = s.custom.Prepare(dialect.CustomRules, of, s.Session, filewise.Rehearses(ctx), func(x *customsql.Statement) error {
			s.names[x] = "fw_custom_" + strconv.Itoa(len(s.names))
			return s.prepare(ctx, s.names[x], x)
		}, func(x *customsql.Statement) error { return s.prepare(ctx, "", x) })
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *customSession) prepare(ctx context.Context, name string, x *customsql.Statement) error {
	_, err := s.conn.Prepare(ctx, name, x.Text, nil)
	return s.build.link.Done(ctx, x.Marked(), err)
}

func (s *customSession) one(_ context.Context, i int64) error { return s.custom.Do(s, s.Session, i) }

// Run executes a statement and reads all of its rows.
func (s *customSession) Run(x *customsql.Statement, values []any) error {
	s.Clear()
	s.Encode(values)
	_, err := s.conn.ExecPrepared(context.Background(), s.names[x], s.Params, nil, nil).Close()
	return err
}

// Begin begins a transaction.
func (s *customSession) Begin(bool) error { return s.control("BEGIN") }

// Commit commits the transaction. After an error COMMIT would be answered with ROLLBACK, but such errors are reported
// before.
func (s *customSession) Commit() error { return s.control("COMMIT") }

// Rollback ends the transaction. If the connection broke, the transaction has ended with it.
func (s *customSession) Rollback() error {
	if s.conn.IsClosed() {
		return nil
	}
	return s.control("ROLLBACK")
}

func (s *customSession) control(sql string) error {
	_, err := s.conn.Exec(context.Background(), sql).ReadAll()
	return err
}
