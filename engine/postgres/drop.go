package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"filewise"
	"filewise/engine/internal/external"
	"filewise/engine/postgres/client"
	"filewise/engine/postgres/dialect"
	"filewise/internal/marker"
)

// The kinds of objects that Filewise makes on an external server. Both are shared objects, whose comments can be seen
// from every database.
const (
	kindDatabase   = "database"
	kindTablespace = "tablespace"
)

// readMarker returns the query for an object's comment by the object's name.
func readMarker(kind string) string { return queries.Text("mark-" + kind) }

// dropMarked drops an object that carries the marker.
func (s *externalServer) dropMarked(ctx context.Context, kind, name string) error {
	return s.drop(ctx, external.Name{Kind: kind, Name: name}, onlyMarker(name))
}

// onlyMarker returns a function that accepts the name's marker alone.
func onlyMarker(name string) func(comment string) error {
	return func(comment string) error {
		_, err := marker.Parse(name, comment)
		return err
	}
}

var errMarkerChanged = errors.New("its ownership marker has changed")

// Drop drops an object if it has not changed since it was examined.
func (c catalogue) Drop(ctx context.Context, o external.Object) error {
	return c.server.drop(ctx, o.Name, func(comment string) error {
		if comment != o.Marker {
			return errMarkerChanged
		}
		return nil
	})
}

// dropPatience limits how long ended sessions can take to disappear.
const dropPatience = 30 * time.Second

// leavePatience limits how long sessions that this process has closed can take to disappear, before they are ended.
// Their network connection may have been cut silently.
const leavePatience = 2 * time.Second

func endOwn(database string) string {
	return "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = " + dialect.Literal(database) +
		" AND usename = current_user AND application_name = " + dialect.Literal(client.AppName())
}

// drop examines an object and drops it. It examines the object before every try, because someone connected may have put
// something in. It ends no session of others, and the server itself refuses to drop a tablespace that is not empty. If
// the object is gone already, there is no error.
func (s *externalServer) drop(ctx context.Context, o external.Name, accept func(comment string) error) error {
	for limit := time.Now().Add(dropPatience); ; {
		there, users, err := s.mayDrop(ctx, o, accept)
		if err != nil || !there {
			return err
		}
		if users == 0 {
			err = s.link.Exec(ctx, drop(o.Kind, o.Name))
		}
		if used := client.CodeOf(err) == client.CodeInUse; used && o.Kind == kindDatabase && time.Until(limit) < dropPatience-leavePatience {
			if err := s.link.Exec(ctx, endOwn(o.Name)); err != nil {
				return err
			}
		}
		switch used := users > 0 || client.CodeOf(err) == client.CodeInUse; {
		case client.CodeOf(err) == client.CodeNotReady:
			return stays(o, err.Error())
		case !used:
			return err
		case time.Now().After(limit):
			return errors.Join(filewise.Errorf(filewise.CodeTrials, "end the sessions on it, then filewise clean --target URL",
				"%s %s is not dropped: it is in use", o.Kind, o.Name), err)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// unmake drops an object if the server has created it after the connection was lost. It ends the session first, which
// may still be creating it.
func (s *externalServer) unmake(ctx context.Context, kind, name string) error {
	for left := int64(1); left > 0; {
		err := s.link.Scan(ctx, "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = current_user"+
			" AND application_name = $1", []any{creating(name)}, &left)
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(50 * time.Millisecond):
		}
	}
	return s.drop(ctx, external.Name{Kind: kind, Name: name}, func(comment string) error {
		if comment == "" { // the connection was lost before it was marked
			return nil
		}
		return onlyMarker(name)(comment)
	})
}

// mayDrop checks whether an object exists, and counts the sessions of others that use a database. The error explains
// why the object must stay: its marker, or its contents.
func (s *externalServer) mayDrop(ctx context.Context, o external.Name, accept func(comment string) error) (there bool, users int64,
	err error) {
	var comment string
	if err := s.link.Scan(ctx, readMarker(o.Kind), []any{o.Name}, &comment); errors.Is(err, pgx.ErrNoRows) {
		return false, 0, nil
	} else if err != nil {
		return false, 0, client.Failed("reading the ownership marker of "+o.Kind+" "+o.Name, err)
	}
	if err := accept(comment); err != nil {
		return false, 0, stays(o, err.Error())
	}
	if o.Kind == kindTablespace {
		return true, 0, nil
	}
	if err := s.link.Scan(ctx, queries.Text("users"), []any{o.Name, client.AppName()}, &users); err != nil || users > 0 {
		return true, users, err
	}
	what, err := s.othersIn(ctx, o.Name, comment)
	switch {
	case client.CodeOf(err) == client.CodeNoDatabase:
		return false, 0, nil
	case err != nil:
		return false, 0, client.Failed("looking into database "+o.Name, err)
	case what != "":
		return false, 0, stays(o, "it contains objects that Filewise did not make: "+what)
	}
	return true, 0, nil
}

// stays returns the error for an object that is not Filewise's alone.
func stays(o external.Name, why string) error {
	return filewise.Errorf(filewise.CodePreflight, "check it, and drop it yourself if it is not needed", "%s %s is not dropped: %s",
		o.Kind, o.Name, why)
}
