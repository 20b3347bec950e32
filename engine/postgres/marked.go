package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"filewise"
	"filewise/engine/internal/mark"
)

// The kinds of what Filewise makes on an external server. Both are shared objects,
// whose comments every database sees.
const (
	kindDatabase   = "database"
	kindTablespace = "tablespace"
)

// readMark reads the comment of an object by its name.
func readMark(kind string) string {
	if kind == kindDatabase {
		return "SELECT coalesce(shobj_description(oid, 'pg_database'), '') FROM pg_database WHERE datname = $1"
	}
	return "SELECT coalesce(shobj_description(oid, 'pg_tablespace'), '') FROM pg_tablespace WHERE spcname = $1"
}

// readOthers counts the sessions of others on a database; what the server does by
// itself has no user.
const readOthers = "SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND usesysid IS NOT NULL AND NOT starts_with(application_name, $2)"

// dropMarked drops an object that carries the mark.
func (s *foreignServer) dropMarked(ctx context.Context, kind, name string) error {
	return s.dropObject(ctx, kind, name, true)
}

// dropPatience is how long sessions that have ended may take to go.
const dropPatience = 30 * time.Second

// dropObject drops an object after a look at it: before every try, since who was
// connected may have put something in. It never ends anybody's session, and a
// tablespace that is not empty the server itself keeps. One that is gone already
// is no error.
func (s *foreignServer) dropObject(ctx context.Context, kind, name string, marked bool) error {
	statement := "DROP DATABASE " + ident(name)
	if kind == kindTablespace {
		statement = "DROP TABLESPACE " + ident(name)
	}
	for limit := time.Now().Add(dropPatience); ; {
		there, others, err := s.mayDrop(ctx, kind, name, marked)
		if err != nil || !there {
			return err
		}
		if others == 0 {
			err = s.link.exec(ctx, statement)
		}
		switch used := others > 0 || codeOf(err) == codeInUse; {
		case codeOf(err) == codeNotReady:
			return stays(kind, name, err.Error())
		case !used:
			return err
		case time.Now().After(limit):
			return errors.Join(filewise.Errorf(filewise.CodeTrials, "end the sessions on it, then filewise clean --target URL", "%s %s is not dropped: it is in use", kind, name), err)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// mayDrop looks whether an object is there, and how many sessions of others use a
// database. The error says why it must stay: its mark, or what is in it.
func (s *foreignServer) mayDrop(ctx context.Context, kind, name string, marked bool) (there bool, others int64, err error) {
	var comment string
	look := func() error { return s.link.scan(ctx, readMark(kind), []any{name}, &comment) }
	if err := look(); errors.Is(err, pgx.ErrNoRows) {
		return false, 0, nil
	} else if err != nil {
		return false, 0, failed("reading the mark of "+kind+" "+name, err)
	}
	m, err := mark.Parse(name, comment)
	switch {
	case !marked && comment != "":
		return false, 0, stays(kind, name, "it has got a comment meanwhile")
	case marked && err != nil:
		return false, 0, stays(kind, name, err.Error())
	case kind == kindTablespace:
		return true, 0, nil
	}
	if err := s.link.scan(ctx, readOthers, []any{name, appName()}, &others); err != nil || others > 0 {
		return true, others, err
	}
	if marked && m.Custom { // what the user's own SQL makes has any name
		return true, 0, nil
	}
	what, err := s.strangers(ctx, name, marked)
	switch {
	case codeOf(err) == codeNoDatabase:
		return false, 0, nil
	case err != nil:
		return false, 0, failed("looking into database "+name, err)
	case what != "":
		return false, 0, stays(kind, name, holds(what))
	}
	return true, 0, nil
}

// stays is the refusal to drop what is not Filewise's alone.
func stays(kind, name, why string) error {
	return filewise.Errorf(filewise.CodePreflight, "look at it, and drop it yourself if it is not needed", "%s %s is not dropped: %s", kind, name, why)
}
