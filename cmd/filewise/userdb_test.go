//go:build unix

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filewise"
)

// owned is a database of the user's, with foreign keys and odd names, on a server at work.
type owned struct {
	*existing
	schema []string
	// client feeds a script to the server's own client, on a database; dumped is a database
	// as its own program writes it.
	client func(database, script string) (string, error)
	// more is work that the product alone has.
	more   string
	dumped func(database string) (string, error)
	url    func(database string) string
	// asOwner is the option that has a backup's script restore a database with the owner's account.
	asOwner func(database string) string
	// Of servers for shapes: logs by kind, what forgets what was counted, volumes of runs, places of apply's, and what copies a database.
	logs            map[string]string
	forget          string
	volumes, places []string
	copied          func(t *testing.T, from, to string)
}

const ownLayout = "8 files"

// ownWork leaves all as it is, so that the original can be compared while it goes on.
const ownWork = "SELECT net FROM orders WHERE id = 7; BEGIN; UPDATE orders SET net = 1 WHERE id = 9; ROLLBACK; " +
	"SELECT note FROM orders WHERE id = 11; SELECT count(*) FROM orders WHERE id BETWEEN 3 AND 3 + 4;\n"

// A DBA's way: a look at the server, a study of its work, a run on copies of the database with 1, 4 and 8 files, a
// report. Then the script, executed on a copy, there and back. Then its backups tuned, and one made and restored by
// the resulting script. The original is at work all the time, and its dump the same afterwards.
func TestOwnDatabase(t *testing.T) {
	t.Parallel()
	servers := map[string]func(*testing.T) *owned{"mariadb": ownMariaDB, "postgres": ownPostgres}
	if everything() {
		servers["mysql"] = ownMySQL
	}
	for name, start := range servers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := start(t)
			p := newPlace(t)
			p.env = append(p.env, "FILEWISE_PASSWORD="+accountPassword)
			for _, database := range []string{"sales", "copied"} {
				o.prepare(t, "CREATE DATABASE "+database)
				o.feed(t, database, strings.Join(o.schema, ";\n")+";\n")
			}
			before := o.dump(t, "sales")
			stop := o.work(t)
			study := filepath.Join(t.TempDir(), "own.yaml")
			run := slices.Replace(o.looks(t, p), 2, 3, study)[1:]
			p.show(p.run(0, "capture", "--target", o.target, "--database=sales", "--for=2s", "--output", study))
			if text, err := os.ReadFile(study); err != nil || !strings.Contains(string(text), "it waits") {
				t.Errorf("a statement that sleeps is not left out: %v\n%s", err, text)
			}
			p.show(p.run(0, append(run, "--size=12MiB", "--builds=1", "--window=200ms", "--warm-up=0s", "--max-blocks=3", "--budget=0",
				"--volume", "here="+p.volume, "--abort-if", "sessions>1000")...))
			p.show(p.run(0, "report", "--format", "json"))
			_, _, plan, trials := p.newest()
			for _, layout := range []string{"1 file", "4 files", ownLayout} {
				if !slices.ContainsFunc(trials, func(t filewise.Trial) bool {
					return t.State == filewise.Done && strings.HasPrefix(t.Build, layout+" #")
				}) {
					t.Errorf("%d layouts, %d trials, and none of %s", len(plan.Layouts), len(trials), layout)
				}
			}
			o.applied(t, p)
			o.backedUp(t, p)
			stop()
			if after := o.dump(t, "sales"); after != before {
				t.Errorf("the original has changed: before\n%.2000s\nafter\n%.2000s", before, after)
			}
			p.noPassword()
			p.tidy()
		})
	}
}

func (o *owned) dump(t *testing.T, database string) string {
	t.Helper()
	text, err := o.dumped(database)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return text
}

func (o *owned) feed(t *testing.T, database, script string) {
	t.Helper()
	if out, err := o.client(database, script); err != nil {
		t.Fatalf("%v: %s\n%.3000s", err, out, script)
	}
}

// work has clients work on the original until stop.
func (o *owned) work(t *testing.T) (stop func()) {
	var ended atomic.Bool
	var failed error
	done := make(chan struct{})
	go func() {
		defer close(done)
		for !ended.Load() && failed == nil {
			_, failed = o.client("sales", strings.Repeat(ownWork+o.more, 50))
		}
	}()
	stop = func() {
		ended.Store(true)
		<-done
		if failed != nil {
			t.Error(failed)
		}
	}
	t.Cleanup(func() { ended.Store(true); <-done })
	return stop
}

// looks inspects the server, and is led to the commands that follow, of which it returns the run.
func (o *owned) looks(t *testing.T, p *place) []string {
	t.Helper()
	c := p.run(0, "inspect", "--target", o.target, "--json")
	p.show(c)
	var said struct {
		Own [][]string `json:"own_database"`
	}
	if err := json.Unmarshal(c.stdout.Bytes(), &said); err != nil || len(said.Own) != 3 {
		t.Fatalf("%v; %q", err, said.Own)
	}
	from := slices.Index(said.Own[1], "--from") + 1 // sales and its copy are as large as each other
	if of := said.Own[1][from]; of != o.url("copied") && of != o.url("sales") {
		t.Errorf("inspect leads to %q", said.Own[1])
	}
	said.Own[1][from] = o.url("sales")
	return said.Own[1]
}

// applied: the script takes a copy to the layout, as inspect sees it, with all its data; the second script takes it
// back.
func (o *owned) applied(t *testing.T, p *place) {
	t.Helper()
	there := filepath.Join(t.TempDir(), "there.sql")
	args := []string{"apply", "--target", o.target, "--database=copied", "--layout", ownLayout}
	// Servers of MySQL, and of scripts/test all, lie in memory; the volume of the run does not.
	if strings.HasPrefix(o.target, "mysql:") || os.Getenv("TEST_FILEWISE_MEMORY") != "" {
		args = append(args, "--untested")
	}
	p.show(p.run(0, append(args, "--output", there)...))
	var scripts filewise.Migration
	if err := json.Unmarshal(p.run(0, append(args, "--json")...).stdout.Bytes(), &scripts); err != nil || len(scripts.Back) == 0 {
		t.Fatal(scripts, err)
	}
	o.thereAndBack(t, "copied", there, scripts, func() {
		c := p.run(0, "inspect", "--target", o.target, "--json")
		var said struct{ Facts filewise.Inspection }
		if err := json.Unmarshal(c.stdout.Bytes(), &said); err != nil || !slices.ContainsFunc(said.Facts.Groups, func(g filewise.FileGroup) bool {
			return strings.Contains(g.Name, "orders") && g.Fill == filewise.FillPartitions && len(g.Files) >= 8
		}) {
			t.Errorf("%v: inspect does not see the layout: %+v", err, said.Facts.Groups)
		}
	})
}

// thereAndBack executes scripts on a database: its rows are the same there, where look is called, and all of it back.
func (o *owned) thereAndBack(t *testing.T, database, there string, scripts filewise.Migration, look func()) {
	t.Helper()
	before := o.dump(t, database)
	execute := func(path string) {
		script, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		o.feed(t, database, string(script))
	}
	execute(there)
	look()
	if got, want := rowsOf(o.dump(t, database)), rowsOf(before); !slices.Equal(got, want) || len(want) < 500 {
		t.Errorf("%d rows there, %d before", len(got), len(want))
	}
	execute(strings.Replace(there, ".sql", "-back.sql", 1))
	for _, step := range slices.Concat(scripts.Steps, scripts.Back) {
		if step.Later { // when all is seen to be well
			o.feed(t, database, strings.Join(step.SQL, ";\n")+";\n")
		}
	}
	if d := cmp.Diff(lines(before), lines(o.dump(t, database))); d != "" {
		t.Errorf("the way back does not restore it (− before, + now):\n%.3000s", d)
	}
}

// lines are a dump's in a fixed order: its rows may come in another one, also of a restored table, whose pages are filled
// anew. MySQL marks a table that was moved with its place, and
// names the character set of a restored column.
func lines(dump string) []string {
	dump = strings.ReplaceAll(dump, "/*!50100 TABLESPACE `innodb_file_per_table` */ ", "")
	dump = strings.ReplaceAll(dump, " CHARACTER SET utf8mb4 COLLATE", " COLLATE")
	return slices.Sorted(strings.SplitSeq(dump, "\n"))
}

// backedUp tunes backups by time and restore, and has one restored.
func (o *owned) backedUp(t *testing.T, p *place) {
	t.Helper()
	said := o.restores(t, p, "sales", "--files=1,2", "--backup-option="+o.options, "--optimize=both", "--restore-within=1h")
	for _, want := range []string{"Within 1 h: of the settings", "Restores of the leaders, the fastest first (run "} {
		if !strings.Contains(said.stdout.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, &said.stdout)
		}
	}
}

// restores: the script that tuning a database's backups has written makes one, which restored to another database is the same.
func (o *owned) restores(t *testing.T, p *place, database string, args ...string) *child {
	t.Helper()
	script, to := filepath.Join(t.TempDir(), "backup.sh"), filepath.Join(t.TempDir(), "backup")
	said := p.run(0, append([]string{"backup", "--target", o.target, "--database", database, "--max-blocks=3", "--budget=0",
		"--volume", "here=" + t.TempDir(), "--output", script}, args...)...)
	p.show(said)
	restored := database + "_restored"
	o.prepare(t, "CREATE DATABASE "+restored)
	secret := []string{"PGPASSWORD=" + accountPassword, "MYSQL_PWD=" + accountPassword}
	for _, args := range [][]string{{"backup", to}, {"restore", to, restored, o.asOwner(restored)}} {
		cmd := exec.Command("sh", append([]string{script}, args...)...)
		cmd.Env, secret = append(os.Environ(), secret...), nil // the owner has none
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if d := cmp.Diff(lines(o.dump(t, database)), lines(strings.ReplaceAll(o.dump(t, restored), restored, database))); d != "" { // it is named
		t.Errorf("what was restored is not the original (− original, + restored):\n%.3000s", d)
	}
	return said
}

// rowsOf are the rows of a dump, each once: partitions have them in another order, and the
// old table is there until it is dropped.
func rowsOf(dump string) []string {
	rows := slices.DeleteFunc(strings.Split(dump, "\n"), func(line string) bool {
		return !strings.HasPrefix(line, "INSERT ") && !strings.Contains(line, "\t")
	})
	slices.Sort(rows)
	return slices.Compact(rows)
}

func ownMariaDB(t *testing.T) *owned {
	needServer(t)
	o := ownInnoDB(t, "mariadb", startOwn(t, "--performance-schema=ON", "--performance-schema-consumer-statements-digest=ON"))
	o.schema = append(o.schema, "CREATE SEQUENCE `num;bers` START 5 INCREMENT 3",
		"CREATE TABLE past (id int PRIMARY KEY) WITH SYSTEM VERSIONING")
	return o
}

func ownMySQL(t *testing.T) *owned { return ownInnoDB(t, "mysql", startOwnMySQL(t)) }

func ownInnoDB(t *testing.T, engine string, own *ownServer) *owned {
	socket := filepath.Join(own.dir, "own.sock")
	o := &owned{existing: &existing{daemon: own.daemon, target: engine + "://filewise@/?host=" + socket, sql: own.sql},
		asOwner: func(string) string { return "--user=root" }}
	o.options = "compress=no,yes"
	o.url = func(database string) string {
		return engine + "://filewise@/" + database + "?host=" + strings.ReplaceAll(socket, "/", "%2F")
	}
	by := map[string]string{"mariadb": "BY", "mysql": "WITH mysql_native_password BY"}[engine]
	o.prepare(t, "CREATE USER filewise@'%' IDENTIFIED "+by+" '"+accountPassword+"'")
	o.grant(t, engine)
	o.prepare(t, "GRANT SELECT, SHOW VIEW, TRIGGER, EVENT, LOCK TABLES, RELOAD ON *.* TO filewise@'%'",
		"GRANT REFERENCES ON `filewise\\_%`.* TO filewise@'%'")
	o.more = "SELECT SLEEP(0.001), id FROM orders WHERE id = 3; UPDATE orders SET net = 2 WHERE NOW() - INTERVAL 3 DAY > NOW() AND id = 5;\n"
	o.client = func(database, script string) (string, error) {
		cmd := exec.Command("mariadb", "--no-defaults", "--socket="+socket, "--user=root", "--database="+database)
		cmd.Stdin = strings.NewReader(script)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	o.dumped = func(database string) (string, error) {
		out, err := exec.Command("mariadb-dump", "--no-defaults", "--socket="+socket, "--user=root", "--routines", "--events", "--triggers",
			"--skip-dump-date", "--skip-extended-insert", "--order-by-primary", database).CombinedOutput()
		return string(out), err
	}
	o.schema = append(ownSchema("`der Nämé`", "bigint AUTO_INCREMENT"),
		"CREATE TABLE places (at point NOT NULL, SPATIAL KEY (at), e enum('a''b', 'c;'), l varchar(9) CHARACTER SET latin1, FULLTEXT (l))",
		"INSERT INTO places VALUES (POINT(1, 2), 'c;', 'Straße')",
		"CREATE EVENT nightly ON SCHEDULE EVERY 1 DAY DO DELETE FROM orders WHERE id < 0",
		"CREATE TRIGGER stamped BEFORE INSERT ON orders FOR EACH ROW SET NEW.note = UPPER(NEW.note)",
		"INSERT INTO orders (land, net, note) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600) "+
			"SELECT 'de', i, CONCAT('ü', i) FROM n",
		"ALTER TABLE orders ADD gross int GENERATED ALWAYS AS (net * 2) STORED", "ANALYZE TABLE orders")
	return o
}

func ownSchema(odd, key string) []string {
	return []string{
		"CREATE TABLE countries (code char(2) PRIMARY KEY, " + odd + " varchar(40) NOT NULL)",
		"INSERT INTO countries VALUES ('de', 'Österreich; nein'), ('fr', 'a''b')",
		"CREATE TABLE " + odd + " (id int PRIMARY KEY, land char(2), CONSTRAINT odd FOREIGN KEY (land) REFERENCES countries (code))",
		"INSERT INTO " + odd + " VALUES (1, 'de'), (2, NULL)",
		"CREATE TABLE orders (id " + key + " PRIMARY KEY, land char(2) NOT NULL, net int NOT NULL, note text)",
		"CREATE VIEW big AS SELECT id FROM orders WHERE net > 500", "CREATE VIEW bigger AS SELECT id FROM big WHERE id > 5",
		"CREATE TABLE hen (id int PRIMARY KEY, up int REFERENCES hen (id))", "CREATE TABLE egg (id int PRIMARY KEY REFERENCES hen (id))",
		"ALTER TABLE hen ADD CONSTRAINT first FOREIGN KEY (id) REFERENCES egg (id)", "CREATE TABLE heap (x int)",
	}
}

func ownPostgres(t *testing.T) *owned { return ownPostgresWith(t) }

func ownPostgresWith(t *testing.T, settings ...string) *owned {
	e, dir := startPostgres(t, append(settings, "-c", "shared_preload_libraries=pg_stat_statements")...)
	o := &owned{existing: e, asOwner: func(database string) string { return "--dbname=user=owner dbname=" + database + " host=" + dir }}
	o.options, o.more = "compress=0,1", "SELECT pg_sleep(0.001), id FROM orders WHERE id = 3;\n"
	bin := postgresBin()
	run := func(program, input string, args ...string) (string, error) {
		cmd := exec.Command(filepath.Join(bin, program), append([]string{"--host=" + dir, "--username=owner"}, args...)...)
		cmd.Stdin = strings.NewReader(input)
		out, err := cmd.CombinedOutput()
		return token.ReplaceAllString(string(out), ""), err
	}
	o.client = func(database, script string) (string, error) {
		return run("psql", script, "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--dbname="+database)
	}
	o.dumped = func(database string) (string, error) { return run("pg_dump", "", database) }
	o.target = "postgres://filewise@/copied?host=" + dir
	o.url = func(database string) string {
		return "postgres://filewise@/" + database + "?host=" + strings.ReplaceAll(dir, "/", "%2F")
	}
	o.prepare(t, "GRANT pg_read_all_data, pg_read_all_stats TO filewise")
	o.schema = append(ownSchema(`"der Nämé"`, "bigserial"), "CREATE EXTENSION pg_stat_statements",
		"CREATE FUNCTION stamp() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.note := upper(NEW.note); RETURN NEW; END $$",
		"CREATE TRIGGER stamped BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION stamp()",
		"CREATE CONSTRAINT TRIGGER later AFTER INSERT ON orders INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION stamp()",
		"ALTER TABLE orders ADD gross int GENERATED ALWAYS AS (net * 2) STORED, ADD parent bigint REFERENCES orders, ADD j jsonb, ADD b int[]",
		"CREATE INDEX ON orders (lower(note)) WHERE j IS NULL", "CREATE TYPE state AS ENUM ('a''b', 'ü;')", "CREATE DOMAIN d AS state",
		`CREATE SCHEMA "group"`, `CREATE TABLE "group"."select" (id d, during int4range, EXCLUDE USING gist (during WITH &&))`,
		`CREATE SEQUENCE "group".odd INCREMENT -7`, "CREATE TABLE years (y int) PARTITION BY RANGE (y)",
		"CREATE TABLE all_years PARTITION OF years DEFAULT", "COMMENT ON TABLE orders IS E'$$\nGRANT nothing;\n'",
		"ALTER TABLE orders ADD FOREIGN KEY (land) REFERENCES countries",
		"INSERT INTO orders (land, net, note) SELECT 'de', i, 'ü' || i FROM generate_series(1, 600) i", "ANALYZE orders")
	return o
}
