package postgres

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"filewise"
	"filewise/engine/postgres/dialect"
	"filewise/internal/marker"
	"filewise/lab/workload"
)

// theirs are things that a user can put into a database, and what takes them out.
var theirs = [][2]string{
	{"CREATE TABLE public.my_precious (x int)", "DROP TABLE my_precious"},
	{"CREATE TABLE fw_customers (id bigint, payload text)", "DROP TABLE fw_customers"},
	{"CREATE TABLE frag7 (id bigint)", "DROP TABLE frag7"},
	{"CREATE TABLE frag3 (id integer, mine text)", "DROP TABLE frag3"},
	{"CREATE TABLE fw_rows_0007 (id bigint, payload text, mine text)", "DROP TABLE fw_rows_0007"},
	{"CREATE TABLE fw_rows_0007 (id bigint NOT NULL, payload text NOT NULL)", "DROP TABLE fw_rows_0007"},
	{"CREATE TABLE fw_rows_0007 (LIKE fw_rows INCLUDING ALL)", "DROP TABLE fw_rows_0007"},
	{"CREATE TABLE fw_churn_1 (content char(1000))", "DROP TABLE fw_churn_1"},
	{"CREATE SCHEMA filewise; CREATE TABLE filewise.fw_loaded (table_name text, batch bigint)", "DROP SCHEMA filewise CASCADE"},
	{"CREATE TABLE empty ()", "DROP TABLE empty"},
	{"CREATE VIEW fw_rows_0007 AS SELECT 1 AS id", "DROP VIEW fw_rows_0007"},
	{"CREATE MATERIALIZED VIEW seen AS SELECT 1 AS x", "DROP MATERIALIZED VIEW seen"},
	{"CREATE SEQUENCE fw_numbers", "DROP SEQUENCE fw_numbers"},
	{"CREATE SCHEMA mine", "DROP SCHEMA mine"},
	{"CREATE SCHEMA filewise; CREATE TABLE filewise.mine (x int)", "DROP SCHEMA filewise CASCADE"},
	{"CREATE SCHEMA mine; CREATE TABLE mine.fw_rows (id bigint, payload text)", "DROP SCHEMA mine CASCADE"},
	{"CREATE FUNCTION fw_inserts(a int) RETURNS int LANGUAGE sql AS 'SELECT 1'", "DROP FUNCTION fw_inserts(int)"},
	{"CREATE PROCEDURE fw_inserts(a int) LANGUAGE sql AS 'SELECT 1'", "DROP PROCEDURE fw_inserts(int)"},
	{"CREATE TABLE customer (c_id integer, mine text)", "DROP TABLE customer"},
	{"CREATE TABLE item_p0001 (mine text)", "DROP TABLE item_p0001"},
	{"CREATE TABLE fw_churn_1 (content text)", "DROP TABLE fw_churn_1"},
	{"CREATE FUNCTION fw_payment(a int) RETURNS int LANGUAGE sql AS 'SELECT 1'", "DROP FUNCTION fw_payment(int)"},
	{"CREATE PROCEDURE fw_insert(a bigint, b bigint, c bigint) LANGUAGE sql AS 'SELECT 1'", "DROP PROCEDURE fw_insert"},
	{"CREATE FUNCTION fw_payment(w integer, d integer, cw integer, cd integer, c integer, last text, amount integer, at integer) " +
		"RETURNS int LANGUAGE sql AS 'SELECT 1'", "DROP FUNCTION fw_payment"},
	{"ALTER TABLE fw_rows ADD COLUMN note text", "ALTER TABLE fw_rows DROP COLUMN note"},
	{"ALTER TABLE fw_rows ALTER COLUMN payload TYPE varchar(9999)", "ALTER TABLE fw_rows ALTER COLUMN payload TYPE text"},
	{"ALTER TABLE fw_rows ALTER COLUMN payload SET DEFAULT 'mine'", "ALTER TABLE fw_rows ALTER COLUMN payload DROP DEFAULT"},
	{"CREATE INDEX fw_rows_name ON fw_rows (payload)", "DROP INDEX fw_rows_name"},
	{"CREATE UNIQUE INDEX fw_rows_key ON fw_rows (id)", "DROP INDEX fw_rows_key"},
	{"CREATE TYPE mood AS ENUM ('good')", "DROP TYPE mood"},
	{"CREATE DOMAIN few AS int[]", "DROP DOMAIN few"},
	{"CREATE TRIGGER mine BEFORE UPDATE ON fw_rows FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()",
		"DROP TRIGGER mine ON fw_rows"},
	{"SELECT lo_create(7)", "SELECT lo_unlink(7)"},
	{"CREATE EXTENSION pg_trgm", "DROP EXTENSION pg_trgm"},
	{"CREATE COLLATION mine (locale = 'C')", "DROP COLLATION mine"},
	{"CREATE PUBLICATION mine", "DROP PUBLICATION mine"},
	{"CREATE TEXT SEARCH CONFIGURATION mine (COPY = english)", "DROP TEXT SEARCH CONFIGURATION mine"},
}

// A database in which another user has put anything at all is kept, with the
// reason, by clean and by the run that made it.
func othersStay(t *testing.T, f *usersServer) {
	ctx := deadline(t)
	s := f.open(t)
	w := inserts(t, func(p *workload.Params) { p.Table = workload.TablePerConnection })
	db := buildOn(t, ctx, s, partitions(2, 1<<20), inserts(t, nil))
	name := db.Build.(*build).link.Config.Database
	many := buildOn(t, ctx, s, partitions(2, 1<<20), w)
	for _, mine := range []string{name, many.Build.(*build).link.Config.Database} {
		if what, err := s.othersIn(ctx, mine, deadMarker(t, mine)); err != nil || what != "" {
			t.Errorf("in a new build: %q, %v", what, err)
		}
	}
	must(t, many.Drop(ctx))
	var living string
	must(t, s.link.Scan(ctx, readMarker(kindDatabase), []any{name}, &living))
	in := s.link.To(name)
	defer in.Close()
	for _, x := range theirs {
		if err := in.Exec(ctx, x[0]); err != nil {
			if strings.Contains(x[0], "EXTENSION") { // not installed
				continue
			}
			t.Fatal(err)
		}
		in.Forget()
		f.do("COMMENT ON DATABASE " + dialect.Ident(name) + " IS " + dialect.Literal(deadMarker(t, name)))
		left := leftovers(t, s)[name]
		err := s.Remove(ctx, filewise.Leftover{Kind: kindDatabase, Name: name})
		if !strings.Contains(left.Kept, "did not make") || filewise.CodeOf(err) != filewise.CodePreflight {
			t.Errorf("%s: found %+v, removed: %v", x[0], left, err)
		}
		f.do("COMMENT ON DATABASE " + dialect.Ident(name) + " IS " + dialect.Literal(living))
		if err := s.dropMarked(ctx, kindDatabase, name); filewise.CodeOf(err) != filewise.CodePreflight ||
			!strings.Contains(fmt.Sprint(err), "did not make") {
			t.Fatalf("%s: dropped: %v", x[0], err)
		}
		must(t, in.Exec(ctx, x[1]))
	}
	in.Forget()
	theirs := f.admin.To(name)
	must(t, theirs.Exec(ctx, "CREATE TABLE public.fw_rows_0007 (id bigint, payload text)"))
	theirs.Close()
	if what, err := s.othersIn(ctx, name, living); err != nil || !strings.HasPrefix(what, "table fw_rows_0007") {
		t.Errorf("of another account: %q %v", what, err)
	}
	theirs = f.admin.To(name)
	must(t, theirs.Exec(ctx, "DROP TABLE fw_rows_0007"))
	theirs.Close()
	must(t, db.Drop(ctx))

	// A marked tablespace that someone uses.
	space := marker.NewName()
	dir := f.inst.sites.dirs[0] + "/used"
	must(t, makeOwned(f, dir))
	f.do(createTablespace(space, f.inst.handles.Path(dir)), "COMMENT ON TABLESPACE "+dialect.Ident(space)+" IS "+dialect.Literal(deadMarker(t,
		space)),
		"ALTER TABLESPACE "+dialect.Ident(space)+" OWNER TO filewise_account",
		"CREATE TABLE theirs_there (x int) TABLESPACE "+dialect.Ident(space))
	if left := leftovers(t, s)[space]; left.Kept == "" {
		t.Errorf("a tablespace in use: %+v", left)
	}
	if err := s.dropMarked(ctx, kindTablespace, space); filewise.CodeOf(err) != filewise.CodePreflight {
		t.Errorf("a tablespace in use: %v", err)
	}
	f.do("DROP TABLE theirs_there", "CHECKPOINT") // its file goes with a checkpoint
	must(t, s.Remove(ctx, filewise.Leftover{Kind: kindTablespace, Name: space}))
}

// makeOwned makes an empty directory of the server's user.
func makeOwned(f *usersServer, dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	return f.inst.account.Give(dir, dir)
}
