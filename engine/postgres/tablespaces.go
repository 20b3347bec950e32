package postgres

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"filewise"
	"filewise/engine/postgres/dialect"
)

// checkTablespaces checks that the volumes can be used. They must be tablespaces in which the account can create
// objects, or directories if the account can create tablespaces.
func (s *externalServer) checkTablespaces(ctx context.Context) error {
	for _, v := range s.target.Volumes {
		name, existing := strings.CutPrefix(v.Dir, dialect.TablespacePrefix)
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
			"TABLESPACE "+dialect.Ident(name)+" TO "+dialect.Ident(s.about.user),
			"volume %s: the account %s may not create in tablespace %q", volume, s.about.user, name)
	}
	return err
}

// checkPlace checks that a directory can become a tablespace. Only superusers can create tablespaces. PostgreSQL takes
// the directory over (mode 0700, with its own subdirectory), so it must be empty and made for this.
func (s *externalServer) checkPlace(ctx context.Context, v filewise.Volume) error {
	if !s.about.super {
		return filewise.Errorf(filewise.CodePreflight,
			"as a superuser: CREATE TABLESPACE name LOCATION "+dialect.Literal(v.Dir)+"; GRANT CREATE ON TABLESPACE "+
				"name TO "+dialect.Ident(s.about.user)+"; then --volume "+v.Name+"=tablespace:name",
			"volume %s, %s: only superusers may make a tablespace, and %s is none", v.Name, v.Dir, s.about.user)
	}
	rows, err := s.link.Rows(ctx, "SELECT count(*) FROM pg_ls_dir($1)", v.Dir)
	if err != nil {
		return filewise.Errorf(filewise.CodePreflight, "make it on the server, empty, and owned by the server's user",
			"volume %s, %s: the server cannot read it: %w", v.Name, v.Dir, err)
	}
	if n, _ := rows[0][0].(int64); n > 0 {
		return filewise.Errorf(filewise.CodePreflight, "make an empty directory in it, owned by the server's user, and name that",
			"volume %s, %s: it is not empty, and PostgreSQL would take it over", v.Name, v.Dir)
	}
	return nil
}

func createTablespace(name, dir string) string {
	return "CREATE TABLESPACE " + dialect.Ident(name) + " LOCATION " + dialect.Literal(dir)
}

// makeTablespaces creates the tablespaces that a layout needs in directories of the server. All builds share them,
// because a directory can hold only one tablespace.
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
		var refused *pgconn.PgError
		if errors.As(err, &refused) && refused.Routine == "create_tablespace_directories" {
			err = fmt.Errorf("%s: %w: %w", v.Dir, filewise.ErrVolume, err)
		}
		if err != nil {
			return err
		}
		s.created[i] = name
	}
	return nil
}

// lay lays out the tables: the tables that the workload names, the shared one, or one for each connection.
func (d *design) lay() {
	n := 1
	switch {
	case d.custom():
		d.layCustom()
		return
	case d.program.Sharding != nil:
		d.layShards()
		return
	case d.program.Loads():
		for i, t := range d.program.Tables {
			d.tables = append(d.tables, d.laid(table{Name: t.Name, Number: i + 1}, 0))
		}
		return
	}
	if d.program.Table().PerConnection {
		n = d.program.Connections()
	}
	for i := range n {
		t := table{Name: rowsTable, Procedure: procedure}
		if n > 1 {
			t = table{Name: fmt.Sprintf("%s_%04d", rowsTable, i), Procedure: fmt.Sprintf("%s_%04d", procedure, i)}
		}
		t.Loaded, t.New = t.Name+"_loaded", t.Name+"_new"
		d.tables = append(d.tables, d.laid(t, 0))
	}
}

// laid spreads a table as the layout demands, or puts it whole into the tablespace of data file i.
func (d *design) laid(t table, i int) table {
	switch {
	case d.layout.AddedLater != "":
		t.Leaves = []leaf{d.leaf(t.Name, 0)}
		t.Added = d.added(t)
	case d.partitioned():
		t.Partitioned, t.Leaves = true, d.hash(t.Name, t.Name, 0, d.layout.Data.Files)
	default:
		t.Leaves = []leaf{d.leaf(t.Name, i)}
	}
	return t
}

// leaf returns the table or partition for data file i.
func (d *design) leaf(name string, i int) leaf {
	l := leaf{Name: name, space: d.spaceOf(i)}
	l.index = l.space
	if d.index != nil {
		l.index = *d.index
	}
	l.Index, l.IndexSpace = l.index.clause(" USING INDEX TABLESPACE "), l.index.clause(" TABLESPACE ")
	if d.wide() {
		l.Options = " WITH (toast_tuple_target = 8160)"
	}
	l.Options += l.space.clause(" TABLESPACE ")
	return l
}

// hash returns the hash partitions for data files first … files−1.
func (d *design) hash(table, of string, first, files int) []leaf {
	var all []leaf
	for i := first; i < files; i++ {
		l := d.leaf(dialect.PartitionName(table, i), i)
		l.Of, l.Values = of, fmt.Sprintf("FOR VALUES WITH (MODULUS %d, REMAINDER %d)", files-first, i-first)
		all = append(all, l)
	}
	return all
}

// added returns the partitions for the files that are added later.
func (d *design) added(t table) []leaf {
	switch d.layout.AddedLater {
	case filewise.LaterNewData:
		return d.hash(t.Name, t.New, 1, d.layout.Data.Files)
	case filewise.LaterRebuilt:
		return d.hash(t.Name, t.Name, 0, d.layout.Data.Files)
	}
	return nil
}

// tableOf returns a worker's table.
func (d *design) tableOf(worker int) table { return d.tables[worker%len(d.tables)] }

// extends reports whether the layout adds files later.
func (d *design) extends() bool {
	switch d.layout.AddedLater {
	case filewise.LaterNewData:
		return d.layout.Data.Files > 1
	case filewise.LaterRebuilt:
		return true
	}
	return false
}

// leaves returns all tables that hold rows, in the order of the files. If extended is true, the files added later are
// included.
func (d *design) leaves(extended bool) []leaf {
	var all []leaf
	for _, t := range d.tables {
		switch {
		case !extended || !d.extends():
			all = append(all, t.Leaves...)
		case d.layout.AddedLater == filewise.LaterNewData:
			loaded := t.Leaves[0]
			loaded.Name = t.Loaded
			all = append(append(all, loaded), t.Added...)
		default:
			all = append(all, t.Added...)
		}
	}
	return all
}
