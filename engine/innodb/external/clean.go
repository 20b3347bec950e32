package external

import (
	"context"
	"fmt"
	"strings"

	"filewise"
	"filewise/engine/innodb/dialect"
	"filewise/engine/internal/external"
	"filewise/engine/internal/mark"
)

const kindDatabase = "database"

// Leftovers lists the databases that carry the mark, or that a run was killed
// before marking.
func (s *server) Leftovers(ctx context.Context) ([]filewise.Leftover, error) {
	return external.Leftovers(ctx, catalogue{s})
}

// Remove drops a leftover, once nothing uses it and its mark is read again.
func (s *server) Remove(ctx context.Context, l filewise.Leftover) error {
	if l.Kind != kindDatabase {
		return filewise.Errorf(filewise.CodeInternal, "", "%s %q is no leftover of Filewise on %s", l.Kind, l.Name, s.product.Title)
	}
	return external.Remove(ctx, catalogue{s}, l)
}

// catalogue is what the server knows of databases. It implements external.Catalogue.
type catalogue struct{ *server }

// Names lists the databases with Filewise's names.
func (c catalogue) Names(ctx context.Context) ([]external.Name, error) {
	names, err := dialect.Column(ctx, c.db,
		"SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME LIKE ? ORDER BY SCHEMA_NAME",
		dialect.EscapeLike(mark.Prefix)+"%")
	var all []external.Name
	for _, name := range names {
		all = append(all, external.Name{Kind: kindDatabase, Name: name})
	}
	return all, c.explain(err)
}

// Look looks at a database.
func (c catalogue) Look(ctx context.Context, n external.Name) (o external.Object, ok bool, err error) {
	st, err := c.look(ctx, c.db, n.Name)
	if err != nil || !st.exists {
		return o, false, c.explain(err)
	}
	o = external.Object{Name: n, Mark: st.text, Empty: st.unmarked(c.product), Others: strings.Join(st.others(), ", ")}
	o.Used, err = c.used(ctx, n.Name)
	return o, true, c.explain(err)
}

// used says by whom a database is used: its run lives, on whatever host, or a
// session works in it. A living run holds the lock of the database's name from
// before its creation until after its drop.
func (c catalogue) used(ctx context.Context, name string) (string, error) {
	var locked, sessions int
	const query = "SELECT IS_USED_LOCK(?) IS NOT NULL, (SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE DB = ?)"
	err := c.db.QueryRowContext(ctx, query, name, name).Scan(&locked, &sessions)
	switch {
	case err != nil:
		return "", err
	case locked != 0:
		return inUse, nil
	case sessions > 0:
		return fmt.Sprintf("%d sessions use it", sessions), nil
	}
	return "", nil
}

const inUse = "its run is connected to the server"

// Drop drops a database while no run can be connected to it.
func (c catalogue) Drop(ctx context.Context, o external.Object) error {
	h, err := external.Hold(ctx, c.claim(o.Name.Name))
	if err != nil {
		if taken(err) {
			return filewise.Errorf(filewise.CodeBusy, "end what uses it first", "database %s stays: %s", o.Name.Name, inUse)
		}
		return c.explain(err)
	}
	defer func() { _ = h.Release() }() // one that is lost was the server's to release
	return c.remove(ctx, o.Name.Name)
}
