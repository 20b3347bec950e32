package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"filewise"
	"filewise/engine/internal/external"
	"filewise/engine/postgres/client"
	"filewise/internal/marker"
)

// Leftovers lists what earlier runs have left.
func (s *externalServer) Leftovers(ctx context.Context) ([]filewise.Leftover, error) {
	all, err := external.Leftovers(ctx, catalogue{s})
	return all, client.Failed("looking for what is left", err)
}

// Remove drops one leftover after examining it again.
func (s *externalServer) Remove(ctx context.Context, l filewise.Leftover) error {
	return external.Remove(ctx, catalogue{s}, l)
}

// catalogue finds objects with names like Filewise's.
type catalogue struct{ server *externalServer }

// Names lists the objects with such names.
func (c catalogue) Names(ctx context.Context) ([]external.Name, error) {
	rows, err := c.server.link.Rows(ctx, queries.Text("names"))
	var all []external.Name
	for _, row := range rows {
		all = append(all, external.Name{Kind: client.Text(row[0]), Name: client.Text(row[1])})
	}
	return all, err
}

// found holds what the server reports about an object.
type found struct {
	external.Object
	may   bool // the account may drop it
	owner string
	users int64
}

// Look examines one object. A run marks an object before it withdraws its announcement, so the marker is read after checking
// whether a session is still making the object.
func (c catalogue) Look(ctx context.Context, n external.Name) (external.Object, bool, error) {
	var makers int64
	if err := c.server.link.Scan(ctx, queries.Text("makers"), []any{n.Name}, &makers); err != nil {
		return external.Object{}, false, err
	}
	query, args := queries.Text("database"), []any{n.Name, client.AppName()}
	if n.Kind == kindTablespace {
		query, args = queries.Text("tablespace"), args[:1]
	}
	f := found{Object: external.Object{Name: n}}
	if err := c.server.link.Scan(ctx, query, args, &f.Marker, &f.may, &f.owner, &f.users); err != nil {
		if errors.Is(err, pgx.ErrNoRows) {
			err = nil
		}
		return external.Object{}, false, err
	}
	if makers > 0 {
		f.Young = "a run of Filewise creates it at this moment"
	}
	err := c.judge(ctx, &f)
	return f.Object, err == nil, err
}

// judge adds who uses the object and what it contains. It looks into no object that belongs to others or is in use.
func (c catalogue) judge(ctx context.Context, f *found) error {
	_, err := marker.Parse(f.Name.Name, f.Marker)
	marked := err == nil
	switch {
	case f.users > 0 && f.Kind == kindDatabase:
		f.Used = fmt.Sprintf("%d sessions are connected to it", f.users)
	case f.users > 0:
		f.Used = fmt.Sprintf("%d databases are stored in it", f.users)
	case f.Kind == kindTablespace:
		f.Empty = true
	}
	if marked && !f.may && f.Used == "" {
		f.Stays = fmt.Sprintf("it belongs to %s, and only that role may drop it", f.owner)
	}
	if f.Kind == kindTablespace || !f.may || f.users > 0 || !marked && f.Marker != "" {
		return nil
	}
	f.Others, err = c.server.othersIn(ctx, f.Name.Name, f.Marker)
	switch {
	case client.CodeOf(err) == client.CodeNoDatabase: // dropped in the meantime
		return nil
	case err != nil && marked:
		f.Stays = fmt.Sprintf("it cannot be looked into: %v", err)
		return nil
	case err != nil:
		return err
	}
	f.Empty = f.Others == ""
	return nil
}
