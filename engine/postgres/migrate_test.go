package postgres

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"filewise"
	"filewise/engine/postgres/client"
	"filewise/engine/postgres/dialect"
	"filewise/engine/postgres/installed"
	"filewise/own/apply"
)

// movedShop is a database of a user's: foreign keys out, in and to itself, and names that
// statements, literals and comments could be broken out of.
var movedShop = []string{
	`CREATE SCHEMA "Größe"; CREATE ROLE reader; CREATE ROLE "wri'ter"; CREATE EXTENSION IF NOT EXISTS plpgsql`,
	`ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO reader`,
	`CREATE TABLE regions (code text PRIMARY KEY, note text)`,
	"CREATE TABLE ODD (id bigserial, region text NOT NULL REFERENCES public.regions ON DELETE CASCADE, parent bigint, " +
		`"päid?" numeric(9,2) CHECK ("päid?" >= 0), twice numeric GENERATED ALWAYS AS ("päid?" * 2) STORED, body text DEFAULT 'a''b\c', ` +
		`CONSTRAINT "p k" PRIMARY KEY (id), CONSTRAINT u UNIQUE (region, id) DEFERRABLE) WITH (fillfactor = 80)`,
	"ALTER TABLE ODD ADD CONSTRAINT up FOREIGN KEY (parent) REFERENCES ODD (id)",
	"CREATE TABLE lines (line int, \"order\" bigint REFERENCES ODD ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED, " +
		"PRIMARY KEY (\"order\", line))",
	"CREATE INDEX \"by body\" ON ODD (lower(body)) TABLESPACE spare WHERE body <> ''",
	"CREATE STATISTICS \"Größe\".st (ndistinct) ON region, parent FROM ODD",
	"CREATE VIEW \"Größe\".late WITH (security_barrier=true) AS SELECT o.id, count(l.line) AS n FROM ODD o " +
		"LEFT JOIN lines l ON l.\"order\" = o.id GROUP BY o.id",
	`CREATE VIEW later AS SELECT * FROM "Größe".late WHERE n > 0`,
	`CREATE FUNCTION stamp() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.body := NEW.body || ''!''; RETURN NEW; END'`,
	"CREATE TRIGGER stamp BEFORE INSERT ON ODD FOR EACH ROW EXECUTE FUNCTION stamp()",
	"CREATE TRIGGER off BEFORE UPDATE ON ODD FOR EACH ROW EXECUTE FUNCTION stamp()",
	"CREATE CONSTRAINT TRIGGER late AFTER INSERT ON ODD FROM public.regions INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION stamp()",
	"ALTER TABLE ODD DISABLE TRIGGER off",
	"COMMENT ON TABLE ODD IS 'it''s mine'; COMMENT ON CONSTRAINT \"p k\" ON ODD IS 'k'",
	"COMMENT ON COLUMN ODD.id IS 'id'; COMMENT ON TRIGGER stamp ON ODD IS 't'",
	"GRANT UPDATE (\"päid?\"), INSERT ON ODD TO \"wri'ter\" WITH GRANT OPTION",
	"ALTER TABLE ODD ALTER body SET STATISTICS 7, ALTER region SET (n_distinct = 3)",
	`INSERT INTO regions SELECT 'r' || i, E'x\\y\n' FROM generate_series(0, 2) i`,
	"INSERT INTO ODD (region, parent, \"päid?\", body) SELECT 'r' || i % 3, NULLIF(i / 2, 0), i, E'b\\\\\\n' || i " +
		"FROM generate_series(1, 300) i",
	"INSERT INTO lines SELECT n, i FROM generate_series(1, 300) i, generate_series(1, i % 3) n",
	`CREATE TABLE emails (id bigint PRIMARY KEY, email text UNIQUE); CREATE TABLE heap (x int)`,
	`CREATE TABLE seen (id bigint PRIMARY KEY); CREATE MATERIALIZED VIEW counted AS SELECT count(*) FROM seen`,
}

// The table that stands for ODD there, as it is reported and as it is quoted.
const (
	oddTable  = "Größe.o'r\"d\ners; --\\"
	oddQuoted = "\"Größe\".\"o'r\"\"d\ners; --\\\""
)

// migrated: the client of the server executes both scripts; the layout is there, all data
// are the same, and the way back leaves the database as it was.
func migrated(t *testing.T, f *usersServer) {
	const database = `mo'v"ed`
	f.do(`CREATE DATABASE "mo'v""ed"`)
	link := f.admin.To(database)
	defer func() {
		link.Close()
		f.do(`DROP DATABASE "mo'v""ed" WITH (FORCE)`, `DROP ROLE reader`, `DROP ROLE "wri'ter"`)
	}()
	for _, s := range movedShop {
		s = strings.ReplaceAll(s, "ODD", oddQuoted)
		must(t, link.Exec(deadline(t), strings.Split(s, "; C")[0]))
		for _, more := range strings.Split(s, "; C")[1:] {
			must(t, link.Exec(deadline(t), "C"+more))
		}
	}
	must(t, link.Exec(deadline(t), "ALTER TABLE lines ADD nr bigint GENERATED ALWAYS AS IDENTITY (START 10 INCREMENT 5)"))
	movedWhole(t, f, link, database)
	before, data := f.dump(t, database), f.rows(t, link)
	target := f.target(filewise.Volume{Name: "here"}, filewise.Volume{Name: "fast", Dir: "tablespace:spare"})
	wish := filewise.Wish{Layout: partitions(3, 1<<20), Database: database, Tables: []string{oddTable, "lines"}, Run: 7}
	m, err := apply.Migrate(deadline(t), Engine{}, target, wish)
	must(t, err)
	if len(m.Tables) != 2 || m.Bytes < 1<<16 || m.Space["fast"] == 0 || m.Space["here"] <= m.Space["fast"] {
		t.Errorf("%+v", m)
	}
	scripts := apply.Scripts{Migration: m, Run: 7, Layout: wish.Layout, Verdict: "two\nlines"}

	f.rehearse(t, link, database, scripts)
	f.psql(t, database, scripts.Text("test", false, "there.sql", "back.sql"))
	target.Address.Path = database
	i := inspectAt(t, target)
	for _, name := range m.Tables {
		n := slices.IndexFunc(i.Groups, func(g filewise.FileGroup) bool { return g.Name == "table "+name })
		if n < 0 || i.Groups[n].Fill != filewise.FillPartitions || len(i.Groups[n].Files) != 3 ||
			i.Groups[n].Files[1].Volume != "tablespace spare" || i.Groups[n].Files[2].Volume != "tablespace pg_default" {
			t.Errorf("%s is not in three partitions on two tablespaces: %+v", name, i.Groups)
		}
	}
	if aside := filewise.Those(i.Groups, func(g filewise.FileGroup) bool { return g.Aside }); len(aside) != 2 ||
		!strings.HasPrefix(aside[0].Name, "table before_7_") {
		t.Errorf("the old tables are not known as such: %+v", aside)
	}
	wish.Tables = []string{"lines"} // not the old one
	if _, err := apply.Migrate(deadline(t), Engine{}, target, wish); err == nil || !strings.Contains(err.Error(), "partitioned already") {
		t.Error(err)
	}
	wish.Tables = []string{"emails"}
	must(t, link.Exec(deadline(t), "ALTER TABLE emails DROP CONSTRAINT emails_email_key"))
	target.Volumes[1].Dir = f.inst.handles.Path(f.dirs[2]) // of which the rehearsal makes the server's tablespace already
	another, err := apply.Migrate(deadline(t), Engine{}, target, wish)
	must(t, err)
	target.Volumes[1].Dir = "tablespace:spare"
	also := apply.Scripts{Migration: another, Run: 7, Layout: wish.Layout}
	f.rehearse(t, link, database, also)
	f.psql(t, database, also.Text("test", false, "there.sql", "back.sql"))
	f.psql(t, database, also.Text("test", true, "back.sql", "there.sql"))
	for _, step := range another.Back {
		if step.Later {
			must(t, link.Exec(deadline(t), step.SQL...))
		}
	}
	must(t, link.Exec(deadline(t), "ALTER TABLE emails ADD UNIQUE (email)"))
	if now := f.rows(t, link); !slices.Equal(now, data) {
		t.Errorf("the data differ: %d and %d lines", len(data), len(now))
	}
	f.works(t, link)

	f.psql(t, database, scripts.Text("test", true, "back.sql", "there.sql"))
	must(t, link.Exec(deadline(t), "DELETE FROM regions WHERE code = 'new'", `SELECT setval('"Größe"."o''r""d`+"\n"+`ers; --\_id_seq"', 300)`))
	must(t, link.Exec(deadline(t), "SELECT setval('lines_nr_seq', 1505)"))
	for _, step := range m.Back { // which drop what the way there has kept, too
		if step.Later {
			must(t, link.Exec(deadline(t), step.SQL...))
		}
	}
	if after := f.dump(t, database); !slices.Equal(after, before) {
		t.Errorf("the way back does not restore it:\n%s", difference(before, after))
	}
	migrationRefused(t, link, target, wish)
}

func difference(before, after []string) string {
	var out []string
	for _, l := range before {
		if !slices.Contains(after, l) {
			out = append(out, "- "+l)
		}
	}
	for _, l := range after {
		if !slices.Contains(before, l) {
			out = append(out, "+ "+l)
		}
	}
	return strings.Join(out, "\n")
}

// migrationRefused: what a partitioned table cannot have is named, and a table that has
// changed since the script was written is left as it is.
func migrationRefused(t *testing.T, link *client.Link, target filewise.Target, wish filewise.Wish) {
	for table, says := range map[string]string{
		"emails":  "table public.emails cannot be spread: no column is in all of its unique keys (emails_email_key, emails_pkey)",
		"heap":    "table public.heap cannot be spread: it has no unique key",
		"regions": "trigger late of", "seen": "materialized view", "none": "there is no table none",
	} {
		w := wish
		w.Tables = []string{table}
		if _, err := apply.Migrate(deadline(t), Engine{}, target, w); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", table, err)
		}
	}
	w := wish
	w.Tables = []string{"lines"}
	must(t, link.Exec(deadline(t), "CREATE TABLE audit (tab regclass)")) // rows of a rebuilt table's name would name the old one
	if _, err := apply.Migrate(deadline(t), Engine{}, target, w); err == nil || !strings.Contains(err.Error(), "audit.tab is of type") {
		t.Error(err)
	}
	must(t, link.Exec(deadline(t), "DROP TABLE audit"))
	w.Layout.Kind, w.Layout.Name = filewise.KindSingle, "plain table"
	if _, err := apply.Migrate(deadline(t), Engine{}, target, w); err == nil || !strings.Contains(err.Error(), "plain table") {
		t.Error(err)
	}
	w = wish
	w.Tables = []string{"lines"}
	m, err := apply.Migrate(deadline(t), Engine{}, target, w)
	must(t, err)
	must(t, link.Exec(deadline(t), "ALTER TABLE lines ADD late text"))
	err = link.Exec(deadline(t), m.Steps[0].SQL...)
	if err == nil || !strings.Contains(err.Error(), "not as it was when this script was written") {
		t.Errorf("a script of a table that has changed since: %v", err)
	}
}

// works: keys, foreign keys, sequences and triggers of the partitioned tables do.
func (f *usersServer) works(t *testing.T, link *client.Link) {
	must(t, link.Exec(deadline(t), "INSERT INTO regions VALUES ('new')"))
	insert := "INSERT INTO " + oddQuoted + ` (region, "päid?") VALUES ('%s', 4)`
	if err := link.Exec(deadline(t), fmt.Sprintf(insert, "none")); err == nil || !strings.Contains(err.Error(), "foreign key") {
		t.Errorf("a row without a region is taken: %v", err)
	}
	must(t, link.Exec(deadline(t), fmt.Sprintf(insert, "new")))
	var id int64
	var body string
	must(t, link.Scan(deadline(t), "SELECT id, body FROM "+oddQuoted+` WHERE region = 'new' AND twice = 8`, nil, &id, &body))
	if id != 302 || body != `a'b\c!` {
		t.Errorf("the new row has id %d and body %q", id, body)
	}
	if err := link.Exec(deadline(t), `INSERT INTO lines VALUES (1, 999)`); err == nil {
		t.Error("a line without an order is taken")
	}
}

// rows returns all rows of the user's, in an order of their own.
func (f *usersServer) rows(t *testing.T, link *client.Link) (all []string) {
	for _, table := range []string{"regions", "lines", oddQuoted, "later"} {
		must(t, link.CopyOut(deadline(t), "COPY (SELECT x.* FROM "+table+" x ORDER BY x::text COLLATE \"C\") TO STDOUT",
			func(line []byte) { all = append(all, string(line)) }))
	}
	return all
}

// dump returns the database as pg_dump writes it, its lines sorted: where rows lie is not reported.
// It is called when a test has ended, too.
func (f *usersServer) dump(t *testing.T, database string, args ...string) []string {
	t.Helper()
	return dumped(t, f.in, f.inst.sites.dataDir(), f.port, database, args...)
}

// script returns a dump as it is.
func (f *usersServer) script(t *testing.T, database string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), filepath.Join(f.in.Bin, "pg_dump"), "-h", f.inst.sites.dataDir(), "-p", fmt.Sprint(f.port),
		"-U", installed.Superuser, "--dbname="+database).CombinedOutput()
	must(t, err)
	return string(out)
}

func dumped(t *testing.T, in installed.Server, dir string, port int, database string, args ...string) []string {
	t.Helper()
	out, err := exec.CommandContext(context.WithoutCancel(t.Context()), filepath.Join(in.Bin, "pg_dump"), append(args, "-h", dir, "-p",
		fmt.Sprint(port), "-U", installed.Superuser, "--dbname="+database)...).CombinedOutput()
	if err != nil {
		t.Fatalf("pg_dump: %v %s", err, out)
	}
	all := slices.DeleteFunc(strings.Split(string(out), "\n"), func(l string) bool {
		return strings.HasPrefix(l, `\restrict`) || strings.HasPrefix(l, `\unrestrict`)
	})
	slices.Sort(all)
	return all
}

// movedWhole: tables that no partitions can have lie each on a volume, with their indexes, and back.
func movedWhole(t *testing.T, f *usersServer, link *client.Link, database string) {
	target := f.target(filewise.Volume{Name: "here"}, filewise.Volume{Name: "fast", Dir: "tablespace:spare"})
	wish := filewise.Wish{Layout: filewise.Layout{Name: "whole", Kind: filewise.KindSingle,
		Data: filewise.Spread{Files: 1, Placement: filewise.PlaceRoundRobin}}, Database: database,
		Tables: []string{"heap", "emails", "regions", oddTable}, Run: 7}
	before := f.dump(t, database)
	m, err := apply.Migrate(deadline(t), Engine{}, target, wish)
	must(t, err)
	if !slices.Equal(m.Tables, []string{"public.emails", oddTable}) || m.Space["fast"] != m.Bytes || len(m.Steps) != 2 {
		t.Errorf("%+v", m)
	}
	s := apply.Scripts{Migration: m, Run: 7, Layout: wish.Layout}
	f.rehearse(t, link, database, s)
	f.psql(t, database, s.Text("test", false, "there.sql", "back.sql"))
	there, err := link.Texts(deadline(t), "SELECT c.relname::text FROM pg_class c JOIN pg_tablespace s ON s.oid = c.reltablespace "+
		"WHERE spcname = 'spare' AND relname NOT LIKE 'pg\\_%' ORDER BY relname COLLATE \"C\"")
	must(t, err)
	odd := strings.TrimPrefix(oddTable, "Größe.")
	if want := []string{"by body", "emails", "emails_email_key", "emails_pkey", odd, "p k", "u"}; !slices.Equal(there, want) {
		t.Errorf("on the tablespace are %q, want %q", there, want)
	}
	if _, err := apply.Migrate(deadline(t), Engine{}, target, wish); err == nil || !strings.Contains(err.Error(), "lie there already") {
		t.Error(err)
	}
	f.psql(t, database, s.Text("test", true, "back.sql", "there.sql"))
	if after := f.dump(t, database); !slices.Equal(after, before) {
		t.Errorf("the way back does not restore it:\n%s", difference(before, after))
	}
}

// rehearse executes scripts on copies of the database, by createdb -T and by a dump, there and back, and on a database
// that is none, which they refuse. The original stays as it is.
func (f *usersServer) rehearse(t *testing.T, link *client.Link, database string, s apply.Scripts) {
	t.Helper()
	there, back := s.Text("test", false, "there.sql", "back.sql"), s.Text("test", true, "back.sql", "there.sql")
	original := f.dump(t, database)
	link.Forget()
	f.do("CREATE DATABASE rehearsed TEMPLATE "+dialect.Ident(database), "CREATE DATABASE restored TEMPLATE template0")
	defer f.do("DROP DATABASE rehearsed", "DROP DATABASE restored")
	if out, err := f.execute(t, "restored", there); err == nil || !strings.Contains(out, "not as it was when this script was written") {
		t.Errorf("a database that is no copy: %v %s", err, out)
	}
	f.psql(t, "restored", f.script(t, database))
	for _, copied := range []string{"rehearsed", "restored"} {
		f.psql(t, copied, there)
		f.psql(t, copied, back)
		on := f.admin.To(copied)
		if now, data := f.rows(t, on), f.rows(t, link); !slices.Equal(now, data) {
			t.Errorf("%s: there and back, the data differ: %d and %d lines", copied, len(data), len(now))
		}
		for _, step := range s.Back {
			if step.Later && !strings.Contains(step.SQL[0], "TABLESPACE") {
				must(t, on.Exec(deadline(t), step.SQL...))
			}
		}
		on.Close()
		if after := f.dump(t, copied); !slices.Equal(after, original) {
			t.Errorf("%s: there and back, it differs:\n%s", copied, difference(original, after))
		}
	}
	if now := f.dump(t, database); !slices.Equal(now, original) {
		t.Errorf("a rehearsal has altered the original:\n%s", difference(original, now))
	}
}

// psql executes a script as its first lines say.
func (f *usersServer) psql(t *testing.T, database, script string) {
	t.Helper()
	if out, err := f.execute(t, database, script); err != nil {
		t.Fatalf("psql: %v\n%s\n%s", err, out, script)
	}
}

func (f *usersServer) execute(t *testing.T, database, script string) (string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script.sql")
	must(t, os.WriteFile(path, []byte(script), 0o600))
	out, err := exec.CommandContext(t.Context(), "psql", "-h", f.inst.sites.dataDir(), "-p", fmt.Sprint(f.port), "-U", installed.Superuser,
		"--no-psqlrc", "--dbname="+database, "--file", path).CombinedOutput()
	return string(out), err
}
