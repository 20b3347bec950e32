package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"filewise"
	"filewise/engine/internal/ownsql"
)

// ownRules are how PostgreSQL writes SQL.
var ownRules = ownsql.Rules{Dollar: true, Numbered: true}

// own tells whether the workload brings its own SQL.
func (d *design) own() bool { return d.program.Own != nil }

// checkOwn refuses what it cannot do here.
func (d *design) checkOwn() error {
	switch {
	case d.layout.AddedLater != "":
		return filewise.Errorf(filewise.CodeUsage, "use scenario inserts", "files added later in workload %s on PostgreSQL: %w", d.program.Workload, filewise.ErrUnsupported)
	case len(d.program.Own.Tables) == 0:
		return filewise.Errorf(filewise.CodeUsage, "name them by custom.tables, each with its key", "custom names no tables, so there is nothing that the layout could spread: %w", filewise.ErrUnsupported)
	}
	return nil
}

// layOwn are the tables that the layout spreads.
func (d *design) layOwn() {
	for _, t := range d.program.Own.Tables {
		d.tables = append(d.tables, d.laid(table{Name: t.Name}))
	}
}

// ownSetup is the workload's set-up. Partitions follow their table at once, with the
// indexes that it has already where the layout wants indexes.
func (d *design) ownSetup() ([]string, error) {
	site := ownsql.Site{Shards: 1, Spread: map[string]ownsql.Place{}}
	for i, t := range d.tables {
		leaf := t.Leaves[0]
		if !t.Partitioned {
			site.Spread[t.Name] = ownsql.Place{Clause: leaf.Options}
			continue
		}
		place := ownsql.Place{Clause: "PARTITION BY HASH (" + ident(d.program.Own.Tables[i].Key) + ")"}
		for _, leaf := range t.Leaves {
			if leaf.index.name != "" {
				place.After = append(place.After, "SET default_tablespace = "+ident(leaf.index.name))
			}
			place.After = append(place.After, "CREATE TABLE "+ident(leaf.Name)+" PARTITION OF "+ident(leaf.Of)+" "+leaf.Values+leaf.Options)
		}
		place.After = append(place.After, "RESET default_tablespace")
		site.Spread[t.Name] = place
	}
	all, err := ownRules.Setup(d.program.Own, site)
	var texts []string
	for _, x := range all {
		texts = append(texts, x.Marked())
	}
	return texts, err
}

// matchOwn gives what besides the layout's tables holds rows or keys its volume: the
// user's own set-up has put it somewhere.
func (d *design) matchOwn(r *relation) {
	r.role, r.volume = filewise.RoleSystem, d.spaces[0].volume.Name
	for _, s := range d.spaces {
		if s.name == r.space {
			r.volume = s.volume.Name
		}
	}
}

// ownSession is a connection of a workload with SQL of its own.
type ownSession struct {
	session
	typed    filewise.TypedArgs
	sections [][]ownsql.Statement // by type
	names    map[*ownsql.Statement]string
	args     []any
	values   []any
	wire
}

// connectOwn opens a connection with all statements prepared, so that mistakes are
// found before the work.
func (b *build) connectOwn(ctx context.Context, p filewise.Phase, worker int) (_ filewise.Session, err error) {
	s := &ownSession{session: session{build: b, worker: worker}, names: map[*ownsql.Statement]string{}}
	var ok bool
	if s.typed, ok = p.Args.(filewise.TypedArgs); !ok || len(p.Sections) != len(p.Types) {
		return nil, fmt.Errorf("phase %s has no types of transactions", p.Family)
	}
	for _, name := range p.Sections {
		all, err := ownRules.Section(b.design.program.Own, name)
		if err != nil {
			return nil, err
		}
		s.sections = append(s.sections, all)
	}
	if s.conn, err = b.link.worker(ctx); err != nil {
		return nil, err
	}
	for _, section := range s.sections {
		for i := range section {
			x := &section[i]
			s.names[x] = "fw_own_" + strconv.Itoa(len(s.names))
			_, err := s.conn.Prepare(ctx, s.names[x], x.Text, nil)
			if err = b.link.done(ctx, x.Marked(), err); err != nil {
				return nil, errors.Join(err, s.Close())
			}
		}
	}
	if worker == 0 {
		if err := s.tryChecks(ctx); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// tryChecks finds mistakes in the queries of checks before the work too: a trial that is
// measured first would be lost.
func (s *ownSession) tryChecks(ctx context.Context) error {
	checks, err := ownRules.Checks(s.build.design.program.Own)
	if err != nil {
		return err
	}
	for _, q := range checks {
		_, err := s.conn.Prepare(ctx, "", q.Text, nil)
		if err = s.build.link.done(ctx, q.Marked(), err); err != nil {
			return err
		}
	}
	return nil
}

// Do executes n transactions.
func (s *ownSession) Do(ctx context.Context, first, n int64) (int64, error) {
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	done := int64(0)
	err := s.guarded(ctx, func() error {
		for ; done < n; done++ {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := s.one(first + done); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil || errors.Is(err, context.Cause(ctx)) {
		return done, err
	}
	_, err = s.ended(ctx, first+done, 1, err)
	return done, fmt.Errorf("connection %d, transaction %d: %w", s.worker, first+done, err)
}

func (s *ownSession) one(i int64) (err error) {
	s.args = s.typed.Args(s.args[:0], s.worker, i)
	s.values, err = ownsql.Transaction(s, s.sections[s.typed.TypeOf(s.worker, i)], s.args, s.values)
	return err
}

// Run executes a statement and reads its rows to the end.
func (s *ownSession) Run(x *ownsql.Statement, values []any) error {
	s.clear()
	s.encode(values)
	_, err := s.conn.ExecPrepared(context.Background(), s.names[x], s.params, nil, nil).Close()
	return err
}

// Begin begins a transaction.
func (s *ownSession) Begin(bool) error { return s.control("BEGIN") }

// Commit commits it. A transaction that an error has ended would answer ROLLBACK:
// errors are told before.
func (s *ownSession) Commit() error { return s.control("COMMIT") }

// Rollback ends it. What broke with the connection has ended with that.
func (s *ownSession) Rollback() error {
	if s.conn.IsClosed() {
		return nil
	}
	return s.control("ROLLBACK")
}

func (s *ownSession) control(sql string) error {
	_, err := s.conn.Exec(context.Background(), sql).ReadAll()
	return err
}
