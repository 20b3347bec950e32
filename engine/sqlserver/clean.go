package sqlserver

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"filewise"
	"filewise/engine/internal/external"
	"filewise/engine/sqlserver/dialect"
	"filewise/internal/marker"
)

const kindDatabase = "database"

// young is the age in minutes below which a database may still be in the making. It is marked in the batch that creates
// it, but its keeper takes the lock later.
const young = 10

// Leftovers lists the databases that carry the marker, or were about to be marked.
func (s *externalServer) Leftovers(ctx context.Context) ([]filewise.Leftover, error) {
	return external.Leftovers(ctx, catalogue{s})
}

// Remove drops a leftover after examining it again. If the database is offline, Remove first brings it online.
func (s *externalServer) Remove(ctx context.Context, l filewise.Leftover) error {
	if l.Offline && marker.IsName(l.Name) {
		if err := s.wake(ctx, l.Name); err != nil {
			return err
		}
	}
	return external.Remove(ctx, catalogue{s}, l)
}

// wake brings a database online if its owner and files show that it is a build of this account.
func (s *externalServer) wake(ctx context.Context, name string) error {
	if err := do(ctx, s.control, "wake", map[string]any{"Name": name}); err != nil {
		remedy := "ALTER DATABASE " + dialect.Ident(name) + " SET ONLINE, then clean again"
		if !s.may.online {
			remedy = administrator("ALTER DATABASE "+dialect.Ident(name)+" SET ONLINE") + "; then clean again"
		}
		return filewise.Errorf(filewise.CodePreflight, remedy, "database %s cannot be brought online, so its marker cannot be read: %w",
			name, s.login.explain(err))
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(s.pauses.wake):
		return nil
	}
}

// catalogue finds the databases of a server.
type catalogue struct{ server *externalServer }

func (c catalogue) list(ctx context.Context) ([]row, error) {
	rows, err := askAll(ctx, c.server.control, "leftovers", nil)
	if err != nil {
		return nil, c.server.login.explain(fmt.Errorf("leftovers: %w", err))
	}
	return rows, nil
}

// Names lists the databases whose names begin as Filewise's do.
func (c catalogue) Names(ctx context.Context) ([]external.Name, error) {
	rows, err := c.list(ctx)
	all := filewise.Each(rows, func(r row) external.Name { return external.Name{Kind: kindDatabase, Name: r.Text("name")} })
	return all, err
}

// Look examines a database from inside.
func (c catalogue) Look(ctx context.Context, n external.Name) (o external.Object, ok bool, err error) {
	rows, err := c.list(ctx)
	at := slices.IndexFunc(rows, func(r row) bool { return r.Text("name") == n.Name })
	if err != nil || at < 0 || n.Kind != kindDatabase {
		return o, false, err
	}
	o.Name = n
	switch r := rows[at]; {
	case r.Text("state") == "OFFLINE" && r.Yes("ours"):
		o.Offline = true
		return o, true, nil
	case r.Text("state") == "OFFLINE":
		o.Stays = fmt.Sprintf("it is OFFLINE, so its marker cannot be read, and a drop would leave its files; a run may have ended there: "+
			"ALTER DATABASE %s SET ONLINE, then clean again", dialect.Ident(n.Name))
		return o, true, nil
	case r.Text("state") != "ONLINE":
		o.Stays = fmt.Sprintf("it is %s, so its marker cannot be read; if no restore is under way: DROP DATABASE %s", r.Text("state"),
			dialect.Ident(n.Name))
		return o, true, nil
	case !r.Yes("access"):
		o.Stays = "this account cannot open it: use the one that made it, or " + administrator("DROP DATABASE "+dialect.Ident(n.Name))
		return o, true, nil
	}
	var found row
	err = c.server.within(n.Name, func(db *sql.DB) (err error) {
		found, err = ask(ctx, db, "look", nil)
		return err
	})
	if err != nil {
		o.Stays = fmt.Sprintf("it cannot be looked at: %v; if no one needs it, %s", c.server.login.explain(err),
			administrator("DROP DATABASE "+dialect.Ident(n.Name)))
		return o, true, nil
	}
	if o = seen(o, found); o.Marker == "" && !o.Empty && rows[at].Yes("ours") {
		o.Stays = "it has no marker, although this account owns it and its files have its name: a restore may have ended before the copy " +
			"was marked; if no one needs it: DROP DATABASE " + dialect.Ident(n.Name)
	}
	return o, true, nil
}

// seen adds the results of section look to an object.
func seen(o external.Object, r row) external.Object {
	o.Marker = r.Text("mark")
	objects, ok := r.Number("objects")
	o.Empty = ok && objects == 0
	sessions, _ := r.Number("sessions")
	result, locked := r.Number("result")
	switch {
	case !locked || result < 0:
		o.Used = "a run keeps it"
	case sessions > 0:
		o.Used = fmt.Sprintf("%d sessions are connected to it", sessions)
	}
	if age, aged := r.Number("age"); !aged || age < young {
		o.Young = fmt.Sprintf("it is less than %d minutes old: a run may be making it", young)
	}
	if others, counted := r.Number("others"); (!counted || others > 0) && !forCustom(o.Name.Name, o.Marker) {
		o.Others = fmt.Sprintf("%s, %d in all", r.Text("other"), others)
	}
	return o
}

// Drop drops the database if it is unchanged since it was examined.
func (c catalogue) Drop(ctx context.Context, o external.Object) error {
	return c.server.drop(ctx, o.Name.Name, o.Marker)
}
