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

// dropMarked drops an object that carries the mark, which is read right before.
// One that is gone already is no error.
func (s *foreignServer) dropMarked(ctx context.Context, kind, name string) error {
	var comment string
	err := s.link.scan(ctx, readMark(kind), []any{name}, &comment)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return failed("reading the mark of "+kind+" "+name, err)
	}
	if _, err := mark.Parse(name, comment); err != nil {
		return filewise.Errorf(filewise.CodePreflight, "look at it, and drop it yourself if it is not needed", "%s %s is not dropped: %w", kind, name, err)
	}
	return s.dropNow(ctx, kind, name)
}

// dropPatience is how long the server's processes of ended sessions may take to go.
const dropPatience = 30 * time.Second

// dropNow drops what was just looked at. It never ends anybody's session.
func (s *foreignServer) dropNow(ctx context.Context, kind, name string) error {
	statement := "DROP DATABASE " + ident(name)
	if kind == kindTablespace {
		statement = "DROP TABLESPACE " + ident(name)
	}
	for limit := time.Now().Add(dropPatience); ; {
		err := s.link.exec(ctx, statement)
		if err == nil || codeOf(err) != codeInUse || time.Now().After(limit) {
			if codeOf(err) == codeInUse {
				return filewise.Errorf(filewise.CodeTrials, "end the sessions on it, then filewise clean --target URL", "%w", err)
			}
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
