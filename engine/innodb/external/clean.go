package external

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"filewise"
	"filewise/engine/innodb/dialect"
	"filewise/engine/internal/external"
	"filewise/internal/marker"
)

const kindDatabase = "database"

// Leftovers lists the databases that carry the marker, or that a killed run had not marked yet.
func (s *server) Leftovers(ctx context.Context) ([]filewise.Leftover, error) {
	return external.Leftovers(ctx, catalogue{s})
}

// Remove drops a leftover if nothing uses it. It reads the marker again first.
func (s *server) Remove(ctx context.Context, l filewise.Leftover) error {
	if l.Kind != kindDatabase {
		return filewise.Errorf(filewise.CodeInternal, "", "%s %q is no leftover of Filewise on %s", l.Kind, l.Name, s.product.Title)
	}
	return external.Remove(ctx, catalogue{s}, l)
}

// catalogue accesses the server's databases. It implements external.Catalogue.
type catalogue struct{ *server }

// Names lists the databases with Filewise's names.
func (c catalogue) Names(ctx context.Context) ([]external.Name, error) {
	names, err := dialect.Column(ctx, c.db,
		"SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME LIKE ? ORDER BY SCHEMA_NAME",
		dialect.EscapeLike(marker.Prefix)+"%")
	all := filewise.Each(names, func(name string) external.Name { return external.Name{Kind: kindDatabase, Name: name} })
	return all, c.explain(err)
}

// Look examines a database.
func (c catalogue) Look(ctx context.Context, n external.Name) (o external.Object, ok bool, err error) {
	st, err := c.look(ctx, c.db, n.Name)
	if err != nil || !st.exists {
		return o, false, c.explain(err)
	}
	o = external.Object{Name: n, Marker: st.text, Empty: st.unmarked(c.product), Others: strings.Join(st.others(), ", "),
		Stays: c.hidden(st)}
	o.Used, err = c.used(ctx, n.Name, st.marked && st.marker.DiedHere())
	return o, true, c.explain(err)
}

// used reports who uses a database: its living run, on whatever host, or a session that works in it. A living run holds
// the lock of the database's name from before its creation until after its drop. If the run died on this host, its
// remaining sessions do not count.
func (c catalogue) used(ctx context.Context, name string, died bool) (string, error) {
	var holder sql.NullString
	if err := c.db.QueryRowContext(ctx, "SELECT IS_USED_LOCK(?)", name).Scan(&holder); err != nil {
		return "", err
	}
	ids, err := dialect.Column(ctx, c.db, "SELECT ID FROM information_schema.PROCESSLIST WHERE DB = ?", name)
	if err == nil && died {
		var dead []string
		dead, err = dialect.Column(ctx, c.db, sessionsOfDead, name, name)
		of := func(id string) bool { return slices.Contains(dead, id) }
		ids, holder.Valid = slices.DeleteFunc(ids, of), holder.Valid && !of(holder.String)
	}
	switch {
	case err != nil:
		return "", err
	case holder.Valid:
		return inUse + " (connection " + holder.String + ")", nil
	case len(ids) > 0:
		return "connections use it: " + strings.Join(ids, ", ") + "; KILL CONNECTION ends one", nil
	}
	return "", nil
}

const inUse = "its run is connected to the server"

// Drop drops a database while it holds the lock of its name, so that no run can be using it.
func (c catalogue) Drop(ctx context.Context, o external.Object) error {
	if m, err := marker.Parse(o.Name.Name, o.Marker); err == nil && m.DiedHere() {
		if err := c.endDead(ctx, o.Name.Name); err != nil {
			return c.explain(err)
		}
	}
	h, err := external.Hold(ctx, c.claim(o.Name.Name))
	if err != nil {
		if taken(err) {
			return filewise.Errorf(filewise.CodeBusy, "end what uses it first", "database %s stays: %s", o.Name.Name, inUse)
		}
		return c.explain(err)
	}
	defer func() { _ = h.Release() }() // if it was lost, the server has released it
	return c.remove(ctx, o.Name.Name)
}
