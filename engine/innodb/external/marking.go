package external

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"filewise"
	"filewise/engine/innodb/dialect"
	"filewise/engine/internal/external"
	"filewise/internal/marker"
	"filewise/internal/sqlfile"
)

// markerTable carries the marker as its comment if databases cannot have comments. One statement creates it, so a database
// contains either the whole marker or nothing.
const (
	markerTable   = "filewise_mark"
	markerColumns = "id TINYINT NOT NULL PRIMARY KEY"
)

// creation is the section of the steps that create and mark a database.
const creation = "creation"

// create returns the statements that create and mark a database. Nothing exists before the first one.
func create(d *dialect.Product, name, text string) []string {
	create := "CREATE DATABASE " + dialect.Ident(name) + " CHARACTER SET utf8mb4"
	if d.External.Comments {
		return []string{create + " COMMENT " + dialect.Literal(text)}
	}
	return []string{create, "CREATE TABLE " + dialect.Ident(name) + "." + dialect.Ident(markerTable) +
		" (" + markerColumns + ") ENGINE = InnoDB COMMENT " + dialect.Literal(text)}
}

// state describes a database with one of Filewise's names.
type state struct {
	exists bool
	text   string // the text in the marker's place
	marker marker.Marker
	marked bool
	damage error // why that text is no marker
	// holds lists what the database contains in addition to the marker's table.
	holds []dialect.Thing
}

// unmarked reports whether a killed run created the database and had not marked it yet.
func (s state) unmarked(d *dialect.Product) bool {
	return s.exists && !d.External.Comments && !s.marked && s.damage == nil && len(s.holds) == 0
}

// markerQuery returns the query that reads a database's marker. database is an SQL expression.
func markerQuery(d *dialect.Product, database string) string {
	if d.External.Comments {
		return "SELECT SCHEMA_COMMENT FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = " + database
	}
	return "SELECT TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = " + database + " AND TABLE_NAME = '" + markerTable + "'"
}

// look reads the present state of a database from the server.
func (s *server) look(ctx context.Context, db dialect.Queryer, name string) (state, error) {
	var st state
	var n int
	if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = ?", name).Scan(&n); err != nil ||
		n == 0 {
		return st, err
	}
	st.exists = true
	err := db.QueryRowContext(ctx, markerQuery(s.product, "?"), name).Scan(&st.text)
	switch {
	case errors.Is(err, sql.ErrNoRows):
	case err != nil:
		return st, err
	default:
		st.marker, st.damage = marker.Parse(name, st.text)
		st.marked = st.damage == nil
	}
	all, err := dialect.Things(ctx, db, name)
	st.holds = slices.DeleteFunc(all, func(t dialect.Thing) bool { return !s.product.External.Comments && t.Is(markerTable, markerColumns) })
	return st, err
}

// others returns up to three objects in a marked database that Filewise has not put there.
func (s state) others() []string {
	if !s.marked || s.marker.Custom { // custom SQL can use any name
		return nil
	}
	var all []string
	for _, thing := range s.holds {
		if !thing.Own(s.marker.Name) {
			all = append(all, thing.String())
		}
	}
	return all[:min(3, len(all))]
}

// hidden explains why the server may not show all that a database contains. If empty, it shows all.
func (s *server) hidden(st state) string {
	missing := s.rights.missing(needed)
	if len(missing) == 0 || st.marker.Custom || !st.marked && !st.unmarked(s.product) {
		return ""
	}
	return "what others have put into it is not all shown to an account that lacks " + strings.Join(missing, ", ")
}

// create creates and marks a database. If that fails, it leaves nothing.
func (s *server) create(ctx context.Context, name string, custom bool) error {
	text, err := marker.NewText(name, custom)
	if err != nil {
		return err
	}
	for i, statement := range create(s.product, name, text) {
		_, err := s.db.ExecContext(ctx, statement)
		if err != nil {
			err = s.explain(fmt.Errorf("%s: %w", sqlfile.Short(statement), err))
			if n, ok := dialect.Number(err); i == 0 && ok && n != 0 {
				return err // the server's answer: the database is not Filewise's
			}
			return external.Undo(ctx, tidyPatience, err, func(ctx context.Context) error { return s.remove(ctx, name) })
		}
	}
	return nil
}

// tidyPatience limits the clean-up after a failure.
const tidyPatience = time.Minute

// remove drops a database that carries the marker now, or that is unmarked and empty. It is no error if the database does
// not exist.
func (s *server) remove(ctx context.Context, name string) error {
	if !marker.IsName(name) {
		return filewise.Errorf(filewise.CodePreflight, "drop it yourself", "database %s was not named by Filewise: it stays", name)
	}
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return s.explain(err)
	}
	defer conn.Close()
	st, err := s.look(ctx, conn, name)
	if err != nil {
		return s.explain(fmt.Errorf("reading the ownership marker of %s: %w", name, err))
	}
	others := st.others()
	switch {
	case !st.exists:
		return nil
	case s.hidden(st) != "":
		return filewise.Errorf(filewise.CodePreflight, s.grant(s.rights.missing(needed), ours), "database %s stays: %s", name, s.hidden(st))
	case len(others) > 0:
		return filewise.Errorf(filewise.CodePreflight, "move that elsewhere, or drop the database yourself",
			"database %s contains objects that Filewise did not make (%s): it stays", name, strings.Join(others, ", "))
	case !st.marked && !st.unmarked(s.product):
		return filewise.Errorf(filewise.CodePreflight, "check it, and drop it yourself if it is not needed",
			"database %s does not carry Filewise's marker: it stays%s", name, because(st.damage))
	}
	drop := "DROP DATABASE " + dialect.Ident(name)
	_, err = conn.ExecContext(ctx, drop)
	if err != nil {
		return s.explain(fmt.Errorf("dropping database %s: %w", name, err))
	}
	s.sweep(name)
	return nil
}

// sweep removes a dropped database's directories in volumes on this host, which the server leaves behind empty. A
// directory that is not empty stays.
func (s *server) sweep(name string) {
	if local, _ := s.local(); !local {
		return
	}
	for _, dir := range dialect.Dirs(s.target.Volumes) {
		_ = os.Remove(filepath.Join(dir, name)) // without the right, it stays, as on any other host
	}
}

func because(err error) string {
	if err == nil {
		return ""
	}
	return " (" + err.Error() + ")"
}
