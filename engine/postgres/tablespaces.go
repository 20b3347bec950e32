package postgres

import (
	"context"
	"errors"
	"path"
	"strings"

	"github.com/jackc/pgx/v5"

	"filewise"
	"filewise/engine/postgres/internal/client"
)

// checkTablespaces looks whether the volumes can be used: existing tablespaces on
// which the account may create, or directories where it may make one.
func (s *externalServer) checkTablespaces(ctx context.Context) error {
	for _, v := range s.target.Volumes {
		name, existing := strings.CutPrefix(v.Dir, client.TablespacePrefix)
		switch {
		case existing:
			if err := s.checkTablespace(ctx, v.Name, name); err != nil {
				return err
			}
		case path.IsAbs(v.Dir):
			if err := s.checkPlace(ctx, v); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *externalServer) checkTablespace(ctx context.Context, volume, name string) error {
	var may bool
	err := s.link.Scan(ctx, queries.Text("may-create"), []any{name}, &may)
	if errors.Is(err, pgx.ErrNoRows) {
		return filewise.Errorf(filewise.CodePreflight, "name an existing one: SELECT spcname FROM pg_tablespace",
			"volume %s: there is no tablespace %q on the server", volume, name)
	}
	if err == nil && !may {
		err = filewise.Errorf(filewise.CodePreflight, "as its owner: GRANT CREATE ON "+
			"TABLESPACE "+client.Ident(name)+" TO "+client.Ident(s.about.user),
			"volume %s: the account %s may not create in tablespace %q", volume, s.about.user, name)
	}
	return err
}

// checkPlace: PostgreSQL lets only superusers make tablespaces. It takes over the
// directory (rights 0700, a directory of its own within), so that must be an empty
// one that was made for this.
func (s *externalServer) checkPlace(ctx context.Context, v filewise.Volume) error {
	if !s.about.super {
		return filewise.Errorf(filewise.CodePreflight,
			"as a superuser: CREATE TABLESPACE name LOCATION "+client.Literal(v.Dir)+"; GRANT CREATE ON TABLESPACE "+
				"name TO "+client.Ident(s.about.user)+"; then --volume "+v.Name+"=tablespace:name",
			"volume %s, %s: only superusers may make a tablespace, and %s is none", v.Name, v.Dir, s.about.user)
	}
	rows, err := s.link.Rows(ctx, "SELECT count(*) FROM pg_ls_dir($1)", v.Dir)
	if err != nil {
		return filewise.Errorf(filewise.CodePreflight, "make it on the server, empty, and owned by the server's user",
			"volume %s, %s: the server cannot look into it: %w", v.Name, v.Dir, err)
	}
	if n, _ := rows[0][0].(int64); n > 0 {
		return filewise.Errorf(filewise.CodePreflight, "make an empty directory in it, owned by the server's user, and name that",
			"volume %s, %s: it is not empty, and PostgreSQL would take it over", v.Name, v.Dir)
	}
	return nil
}

func createTablespace(name, dir string) string {
	return "CREATE TABLESPACE " + client.Ident(name) + " LOCATION " + client.Literal(dir)
}

// makeTablespaces makes the tablespaces that a layout needs in directories of the
// server, once for all builds: there is room for one in a directory.
func (s *externalServer) makeTablespaces(ctx context.Context, d *design) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, i := range d.used() {
		v := s.target.Volumes[i]
		if !path.IsAbs(v.Dir) || s.created[i] != "" {
			continue
		}
		if err := s.checkPlace(ctx, v); err != nil {
			return err
		}
		name, err := s.make(ctx, kindTablespace, false, func(name string) string { return createTablespace(name, v.Dir) })
		if err != nil {
			return err
		}
		s.created[i] = name
	}
	return nil
}
