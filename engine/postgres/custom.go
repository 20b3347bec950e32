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

// customRules describes how PostgreSQL writes SQL.
var customRules = customsql.Rules{Dollar: true, Numbered: "$"}

// custom reports whether the workload brings custom SQL.
func (d *design) custom() bool { return d.program.Custom != nil }

// checkCustom refuses what it cannot do here.
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

// layCustom are the tables that the layout spreads: over partitions, or whole, on its volumes in turn.
func (d *design) layCustom() {
	for i, t := range d.program.Custom.Tables {
		d.tables = append(d.tables, d.laid(table{Name: t.Name}, i))
	}
}

// customSetup returns the workload's set-up.
func (d *design) customSetup() ([]string, error) {
	if d.program.Restored() {
		return []string{dumpfile.Step(d.program.Custom)}, nil
	}
	return customRules.Texts(d.program.Custom, d.customSite(""))
}

// customSite returns the places of the workload's tables. Partitions follow their table at
// once, with the indexes that it has already if the layout needs indexes. with are storage
// parameters, which a partitioned table hands to its partitions.
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
				place.After = append(place.After, "RESET default_tablespace") // which the partition before has set
			}
			place.After = append(place.After, "CREATE TABLE "+dialect.Table(leaf.Name)+" PARTITION OF "+dialect.Table(leaf.Of)+" "+
				leaf.Values+with+leaf.Options)
		}
		place.After = append(place.After, "RESET default_tablespace")
		site.Spread[t.Name] = place
	}
	return site
}

// matchCustom gives what in addition to the layout's tables holds rows or keys its volume: the
// user's own set-up has put it somewhere.
func (d *design) matchCustom(r *relation) {
	r.role, r.volume = filewise.RoleSystem, d.spaces[0].volume.Name
	for _, s := range d.spaces {
		if s.name == r.space {
			r.volume = s.volume.Name
		}
	}
}

// customSession is a connection of a workload with custom SQL.
type customSession struct {
	connection
	custom customsql.Session
	names  map[*customsql.Statement]string
}

// newCustom opens a connection with all statements prepared.
func newCustom(ctx context.Context, c connection) (_ filewise.Session, err error) {
	s := &customSession{connection: c, names: map[*customsql.Statement]string{}}
	s.join()
	s.One, s.Noun = s.one, "transaction"
	s.Try = func(_ context.Context, i int64) error { return s.custom.Try(s, s.Session, i) }
	var setup []string
	if path := s.build.design.target.Settings["search_path"]; path != "" { // which sessions have set for Filewise's own SQL
		setup = append(setup, "SET search_path = "+path)
	}
	if err = s.open(ctx, setup...); err == nil {
		of := s.build.design.program.Custom
		err = s.custom.Prepare(customRules, of, s.Session, filewise.Rehearses(ctx), func(x *customsql.Statement) error {
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

// Run executes a statement and reads its rows to the end.
func (s *customSession) Run(x *customsql.Statement, values []any) error {
	s.Clear()
	s.Encode(values)
	_, err := s.conn.ExecPrepared(context.Background(), s.names[x], s.Params, nil, nil).Close()
	return err
}

// Begin begins a transaction.
func (s *customSession) Begin(bool) error { return s.control("BEGIN") }

// Commit commits it. A transaction that an error has ended would answer ROLLBACK:
// errors are reported before.
func (s *customSession) Commit() error { return s.control("COMMIT") }

// Rollback ends it. What broke with the connection has ended with that.
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
