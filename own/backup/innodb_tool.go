package backup

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"filewise"
	"filewise/engine/innodb/client"
	"filewise/engine/innodb/dialect"
	"filewise/engine/userbackup"
)

// innodbTool makes the backups of one layout of a user's database.
type innodbTool struct {
	server *innodbBackups
	layout filewise.Layout
	proof  bool // a backup will be compared

	before, after map[string]innodbSum // sums of the original when its dump began and ended
	restored      string               // the marked database; "" if there is none
	drop          func(context.Context) error
}

// Dump runs the layout's tool.
func (o *innodbTool) Dump(ctx context.Context, to string) (err error) {
	if o.proof {
		if o.before, err = o.server.sums(ctx, o.server.target.Database, nil); err != nil {
			return err
		}
	}
	if writesStream(o.layout) {
		err = o.stream(ctx, to)
	} else {
		err = o.mydumper(ctx, to)
	}
	if err == nil {
		err = o.dumpCode(ctx, to)
	}
	if err == nil && o.proof {
		o.after, err = o.server.sums(ctx, o.server.target.Database, nil)
	}
	return err
}

func (o *innodbTool) mydumper(ctx context.Context, to string) error {
	paths, err := mydumperPrograms()
	if err != nil {
		return err
	}
	return o.run(ctx, filepath.Dir(to), paths[0], append(mydumperArguments(o.server.target, o.layout), "--outputdir="+to)...)
}

// run runs mydumper or myloader.
func (o *innodbTool) run(ctx context.Context, dir, path string, args ...string) error {
	place, err := client.Mydumper(o.server.product, *o.server.target.Address)
	if err != nil {
		return err
	}
	options, err := writeMydumperFile(dir)
	if err != nil {
		return err
	}
	command := append(append([]string{path, "--defaults-file=" + options}, place...), args...)
	env := []string{"MYSQL_PWD=" + o.server.target.Address.Password.Reveal(), readsUTF8}
	return userbackup.Run(ctx, o.server.target, dir, env, command)
}

// Read reads all rows over as many connections as there are jobs.
func (o *innodbTool) Read(ctx context.Context) error {
	tables, err := o.server.tables(ctx, o.server.target.Database)
	if err != nil {
		return err
	}
	pool := o.server.Pool(o.server.target.Database, o.layout.Backup.Files)
	defer pool.Close()
	return userbackup.ReadAll(ctx, o.server.target, o.layout, tables, func(ctx context.Context, next <-chan string) error {
		for t := range next {
			if err := readTable(ctx, pool, t); err != nil {
				return o.server.Explain(err)
			}
		}
		return nil
	})
}

func readTable(ctx context.Context, pool *sql.DB, table string) error {
	rows, err := pool.QueryContext(ctx, "SELECT * FROM "+dialect.Ident(table))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() { //nolint:revive // rows are read and discarded
	}
	return rows.Err()
}

// tables returns the tables that hold rows, the largest first.
func (s *innodbBackups) tables(ctx context.Context, database string) ([]string, error) {
	var all []string
	err := dialect.Each(ctx, s.DB, func(scan dialect.Scan) error {
		var name string
		err := scan(&name)
		all = append(all, name)
		return err
	}, "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_TYPE IN "+
		"('BASE TABLE', 'SYSTEM VERSIONED', 'SEQUENCE') ORDER BY DATA_LENGTH DESC, 1",
		database)
	return all, s.Explain(err)
}

// Fill restores a backup to a marked database on the server, without triggers, events, routines and views.
func (o *innodbTool) Fill(ctx context.Context, from string) (err error) {
	s := o.server
	files, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, f := range files {
		if namesOriginal(f.Name()) {
			if err := os.Remove(filepath.Join(from, f.Name())); err != nil {
				return err
			}
		}
	}
	// Events and triggers of a copy could write to the original, because they and routines can name it.
	if err := o.checkCode(ctx, from); err != nil {
		return err
	}
	if o.restored, o.drop, err = s.MakeDatabase(ctx); err != nil {
		return err
	}
	if writesStream(o.layout) {
		return o.unstream(ctx, from)
	}
	paths, err := mydumperPrograms()
	if err != nil {
		return err
	}
	return o.run(ctx, filepath.Dir(from), paths[1], "--source-db="+s.target.Database, "--database="+o.restored, "--directory="+from,
		InnoDB{s.product}.loaders(o.layout))
}

// innodbSum holds what is compared of a table: its number of rows and a sum over them.
type innodbSum struct{ rows, sum string }

// sums returns the sums of the named tables in one snapshot; without names, of all tables.
func (s *innodbBackups) sums(ctx context.Context, database string, names []string) (_ map[string]innodbSum, err error) {
	if names == nil {
		if names, err = s.tables(ctx, database); err != nil {
			return nil, err
		}
	}
	pool := s.Pool(database, 1)
	defer pool.Close()
	conn, err := pool.Conn(ctx)
	if err != nil {
		return nil, s.Explain(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ"); err != nil {
		return nil, s.Explain(err)
	}
	if _, err := conn.ExecContext(ctx, "START TRANSACTION WITH CONSISTENT SNAPSHOT"); err != nil {
		return nil, s.Explain(err)
	}
	all := map[string]innodbSum{}
	for _, name := range names {
		columns, err := dialect.Column(ctx, conn, "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = "+
			dialect.Literal(database)+" AND TABLE_NAME = "+dialect.Literal(name)+" ORDER BY ORDINAL_POSITION")
		if err != nil {
			return nil, s.Explain(err)
		}
		var parts []string
		for _, c := range columns {
			parts = append(parts, "ISNULL("+dialect.Ident(c)+")", "CAST("+dialect.Ident(c)+" AS BINARY)")
		}
		var x innodbSum
		err = conn.QueryRowContext(ctx, "SELECT COUNT(*), COALESCE(SUM(CAST(CONV(LEFT(MD5(CONCAT_WS('#', "+
			strings.Join(parts, ", ")+")), 12), 16, 10) AS UNSIGNED)), 0) FROM "+dialect.Ident(name)).Scan(&x.rows, &x.sum)
		if err != nil {
			return nil, s.Explain(fmt.Errorf("%s: %w", name, err))
		}
		all[name] = x
	}
	_, err = conn.ExecContext(ctx, "COMMIT")
	return all, s.Explain(err)
}

// Compare compares tables, rows and sums with the original. If a table was written to during its dump, its number of
// rows must lie between the numbers before and after.
func (o *innodbTool) Compare(ctx context.Context) error {
	var names []string
	for name := range o.before {
		names = append(names, name)
	}
	restored, err := o.server.tables(ctx, o.restored)
	if err != nil {
		return err
	}
	for _, name := range names {
		if !slices.Contains(restored, name) {
			return fmt.Errorf("%w: table %s was not restored", filewise.ErrCheck, name)
		}
	}
	got, err := o.server.sums(ctx, o.restored, names)
	if err != nil {
		return err
	}
	for _, name := range names {
		before, after, x := o.before[name], o.after[name], got[name]
		switch {
		case x == before || x == after:
		case before == after:
			return fmt.Errorf("%w: table %s has %s rows and the sum %s, and was restored with %s and %s", filewise.ErrCheck, name, before.rows,
				before.sum, x.rows, x.sum)
		case !between(x.rows, before.rows, after.rows):
			return fmt.Errorf("%w: table %s had %s to %s rows while it was dumped, and was restored with %s", filewise.ErrCheck, name, before.rows,
				after.rows, x.rows)
		}
	}
	return nil
}

// between reports whether x lies between a and b, all given as digits.
func between(x, a, b string) bool {
	less := func(a, b string) bool { return len(a) < len(b) || len(a) == len(b) && a <= b }
	return less(a, x) && less(x, b) || less(b, x) && less(x, a)
}

// Drop checks the restored database's marker and drops the database.
func (o *innodbTool) Drop(ctx context.Context) error {
	if o.restored == "" {
		return nil
	}
	if err := o.drop(ctx); err != nil {
		return err
	}
	o.restored = ""
	return nil
}
