package postgres

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"filewise"
	"filewise/engine/internal/session"
	"filewise/engine/postgres/client"
)

// relation is a file of PostgreSQL, as the server reports it: a table or partition, an index, or a TOAST table.
type relation struct {
	name, space string
	path        string // relative to the data directory; "" if it has no file
	bytes       int64
	role        filewise.Role
	volume      string
}

// Observe asks the server for the files, and reads the file system if it is accessible. If the files differ from the
// layout, the error wraps filewise.ErrLayout.
func (b *build) Observe(ctx context.Context) ([]filewise.File, error) {
	rows, err := b.link.Rows(ctx, queries.Text("relations"))
	if err != nil {
		return nil, client.Failed("observing", err)
	}
	relations, err := b.design.match(rows, b.extended.Load(), b.indexed.Load())
	if err != nil {
		return nil, err
	}
	files, err := b.host.files(ctx, b, relations)
	if err != nil {
		return nil, err
	}
	temps, err := b.temps(ctx)
	return append(files, temps...), err
}

// match compares the server's relations with the layout. Every leaf and its index must be in their tablespaces, and
// nothing else may exist. Data files come first, in the layout's order.
func (d *design) match(rows [][]any, extended, indexed bool) ([]relation, error) {
	found := map[string]map[string][]relation{} // relations by kind and table
	for _, row := range rows {
		r := relation{name: client.Text(row[0]), space: client.Text(row[2]), path: client.Text(row[3])}
		r.bytes, _ = row[4].(int64)
		kind, of := client.Text(row[1]), client.Text(row[5])
		if found[kind] == nil {
			found[kind] = map[string][]relation{}
		}
		found[kind][of] = append(found[kind][of], r)
	}
	leaves := d.leaves(extended)
	if n := len(found["table"]); n != len(leaves) && !d.custom() {
		return nil, fmt.Errorf("%w: the server has %s, not %d", filewise.ErrLayout, filewise.FilesName(n), len(leaves))
	}
	var data, others []relation
	for _, leaf := range leaves {
		own := found["table"][leaf.Name]
		index := found["index"][leaf.Name]
		want := len(d.indexNames(leaf))
		if d.loads() && !indexed && !d.indexedFirst() {
			want = 0
		}
		if len(own) != 1 || len(index) < want {
			return nil, fmt.Errorf("%w: the server has no table %s with %d indexes", filewise.ErrLayout, leaf.Name, want)
		}
		if err := leaf.space.holds(&own[0], filewise.RoleData); err != nil {
			return nil, err
		}
		data = append(data, own[0])
		for _, r := range index {
			if d.custom() {
				d.matchCustom(&r)
			} else if err := leaf.index.holds(&r, d.indexRole()); err != nil {
				return nil, err
			}
			others = append(others, r)
		}
		for _, r := range found["toast"][leaf.Name] {
			if d.custom() {
				d.matchCustom(&r)
			} else if err := leaf.space.holds(&r, filewise.RoleSystem); err != nil {
				return nil, err
			}
			others = append(others, r)
		}
	}
	return append(data, others...), nil
}

// indexRole returns the role of indexes. PostgreSQL keeps every index in its own file. Unless the layout puts indexes
// elsewhere, their place is the engine's choice.
func (d *design) indexRole() filewise.Role {
	if d.index != nil {
		return filewise.RoleIndex
	}
	return filewise.RoleSystem
}

// holds checks that a relation is in its tablespace, and sets the relation's volume and role.
func (s space) holds(r *relation, role filewise.Role) error {
	if r.space != s.name || r.path == "" {
		return fmt.Errorf("%w: %s is in tablespace %q (file %q), not %q", filewise.ErrLayout, r.name, r.space, r.path, s.name)
	}
	r.volume, r.role = s.volume.Name, role
	return nil
}

// Activity counts other users' sessions, and how many of them execute something. The latter is absent if the account
// may not see all sessions.
func (s *externalServer) Activity(ctx context.Context) ([]filewise.Gauge, error) {
	var sessions, active, unknown int64
	if err := s.link.Scan(ctx, queries.Text("activity"), []any{client.AppName()}, &sessions, &active, &unknown); err != nil {
		return nil, err
	}
	all := []filewise.Gauge{{Name: "sessions", Unit: "sessions", Value: float64(sessions)}}
	if unknown == 0 {
		all = append(all, filewise.Gauge{Name: "active", Unit: "sessions", Value: float64(active)})
	}
	var lag *float64
	if err := s.link.Scan(ctx, queries.Text("lag"), nil, &lag); err != nil {
		return nil, err
	}
	if lag != nil {
		all = append(all, filewise.Gauge{Name: "replication lag", Unit: "s", Value: *lag})
	}
	return all, nil
}

// ParallelWorkers returns the processes that the server plans for a phase's query, over all Gather nodes.
func (b *build) ParallelWorkers(ctx context.Context, phase int) (n int, err error) {
	p := b.design.program.Phases[phase]
	texts, err := session.Render(p, func(section string) (string, error) { return b.design.statement(section, b.design.tableOf(0)) })
	if err != nil {
		return 0, err
	}
	for _, text := range texts {
		rows, err := b.link.Rows(ctx, "EXPLAIN "+text)
		if err != nil {
			return 0, err
		}
		for _, row := range rows {
			if _, planned, found := strings.Cut(fmt.Sprint(row[0]), "Workers Planned: "); found {
				workers, err := strconv.Atoi(strings.TrimSpace(planned))
				if err != nil {
					return 0, err
				}
				n += workers
			}
		}
	}
	return n, nil
}
