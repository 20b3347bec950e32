package postgres

import (
	"context"
	"fmt"

	"filewise"
	"filewise/engine/postgres/internal/client"
)

// relation is a file of PostgreSQL: a table or partition, an index, or what of a
// table's rows lies apart (TOAST), by its own account.
type relation struct {
	name, space string
	path        string // relative to the data directory. If empty, it has no file
	bytes       int64
	role        filewise.Role
	volume      string
}

// Observe asks the server for the files, and the file system if it is at
// hand. What is not the layout is an error that wraps filewise.ErrLayout.
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

// match compares the server's relations with the layout: every leaf and its index
// in their tablespaces, and nothing in addition. Data come first, in the layout's order.
func (d *design) match(rows [][]any, extended, indexed bool) ([]relation, error) {
	found := map[string]map[string][]relation{} // by kind and table
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
	var data, besides []relation
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
			besides = append(besides, r)
		}
		for _, r := range found["toast"][leaf.Name] {
			if d.custom() {
				d.matchCustom(&r)
			} else if err := leaf.space.holds(&r, filewise.RoleSystem); err != nil {
				return nil, err
			}
			besides = append(besides, r)
		}
	}
	return append(data, besides...), nil
}

// indexRole: PostgreSQL keeps every index in a file of its own; one that was not
// put apart on purpose is the engine's matter.
func (d *design) indexRole() filewise.Role {
	if d.index != nil {
		return filewise.RoleIndex
	}
	return filewise.RoleSystem
}

// holds compares a relation's tablespace with the one it should be in, and gives
// it its volume and role.
func (s space) holds(r *relation, role filewise.Role) error {
	if r.space != s.name || r.path == "" {
		return fmt.Errorf("%w: %s is in tablespace %q (file %q), not %q", filewise.ErrLayout, r.name, r.space, r.path, s.name)
	}
	r.volume, r.role = s.volume.Name, role
	return nil
}

// Activity counts others' sessions, and those that execute something. The latter
// are absent if the account may not see all.
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
