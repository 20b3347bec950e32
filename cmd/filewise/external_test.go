//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// byURL are the servers that runs by URL are disturbed on: MySQL, which shares MariaDB's
// code, by proof/attack alone.
func byURL() map[string]func(*testing.T) *existing {
	all := map[string]func(*testing.T) *existing{"mariadb": externalMariaDB, "postgres": externalPostgres}
	if attacked() {
		all["mysql"] = externalMySQL
	}
	return all
}

func attacked() bool { return os.Getenv(attackVariable) != "" }

// moreRuns are the attack's between two dumps: with the test's own, 100 on three servers.
func moreRuns() int {
	if attacked() {
		return 33
	}
	return 0
}

// existing is an existing server with things of the user's, and an account that
// has the documented rights and no more.
type existing struct {
	target string                                 // its URL, without the password
	sql    func(statement string) (string, error) // as its owner
	dump   func() (string, error)                 // of everything of the user's, and of the catalogue
	daemon *daemon
	layout string // a name that a run's layout of two files has
	// working counts the account's sessions that execute a statement.
	working string
	// own is a database of theirs that the account may read; options are two values of one
	// for its backups.
	own, options string
}

// accountPassword has what URLs, shells and SQL take for something else.
const accountPassword = `Zx9/Can@ary#%41`

// On another owner's server: run, self-check, a second run, a kill and clean leave all that is the user's as it was,
// and the password nowhere.
func TestExternalServer(t *testing.T) {
	t.Parallel()
	for name, start := range byURL() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := start(t)
			before, err := f.dump()
			if err != nil {
				t.Fatal(err)
			}
			p := newPlace(t)
			p.env = append(p.env, "FILEWISE_PASSWORD="+accountPassword)
			p.plansWhatInspectProposes(f.args("inspect")...)
			f.captures(p)
			f.backsUp(t, p)
			f.measure(t, p)
			for range moreRuns() {
				p.run(0, f.args("run", externalRun("200ms")...)...)
			}
			f.killAndClean(t, p)
			after, err := f.dump()
			if err != nil || after != before {
				t.Errorf("something of the user's has changed (%v): before\n%.4000s\nafter\n%.4000s", err, before, after)
			}
			p.noPassword()
			p.tidy()
		})
	}
}

func (f *existing) args(command string, more ...string) []string {
	return append([]string{command, "--target", f.target}, more...)
}

func externalRun(window string) []string {
	return []string{"--files=1,2", "--window=" + window, "--warm-up=0s", "--max-blocks=3", "--budget=0", "--size=4MiB", "--connections=2",
		"--seed=3"}
}

// captures: a study file is written of a log, once.
func (f *existing) captures(p *place) {
	database, log := "postgres", `{"dbname":"postgres","session_id":"1","message":"statement: SELECT upper('x')"}`
	if !strings.HasPrefix(f.target, "postgres") {
		database = "information_schema"
		log = "\t\t    12 Connect\ta@localhost on information_schema using Socket\n\t\t    12 Query\tSELECT upper('x')\n"
	}
	dir := p.t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "their.log"), []byte(log), 0o600); err != nil {
		p.t.Fatal(err)
	}
	args := f.args("capture", "--database", database, "--log", filepath.Join(dir, "their.log"))
	if out := p.run(0, args...).stdout.String(); !strings.Contains(out, "SELECT upper(:") || !strings.Contains(out, "covers 100.0 %") {
		p.t.Errorf("the study:\n%s", out)
	}
	file := filepath.Join(dir, "captured.yaml")
	p.run(0, append(args, "-o", file, "--json")...)
	p.run(2, append(args, "-o", file)...)
	p.run(2, f.args("capture", "--database", database, "--for", "0s")...) // it is not counted
	p.run(2, "capture", "--target", "sqlite:"+dir, "--database", "x")
}

// backsUp finds a setting for backups of a database of theirs, restores and compares one, and writes the script; the
// stored run can print it again.
func (f *existing) backsUp(t *testing.T, p *place) {
	if f.own == "" {
		return
	}
	script := filepath.Join(t.TempDir(), "shop.sh")
	volumes := []string{"--volume=a=" + t.TempDir(), "--volume=b=" + t.TempDir()}
	args := f.args("backup", append(volumes, "--database="+f.own, "--files=1,2", "--budget=0", "--max-blocks=3", "--seed=5")...)
	p.run(2, append(args, "--size=1GiB")...) // no such flag
	p.run(2, f.args("run", "dump", "--database="+f.own, "--rows=50000")...)
	p.run(2, f.args("backup")...)
	p.run(2, "run", "dump", "--engine=postgres", "--database=shop")
	c := p.run(0, append(args, "--backup-option="+f.options, "-o", script)...)
	p.show(c)
	for _, say := range []string{"8 settings", "of the limit", "Best: ", "all is the same"} {
		if !strings.Contains(c.stdout.String(), say) {
			t.Errorf("it does not say %q:\n%s", say, &c.stdout)
		}
	}
	again := filepath.Join(t.TempDir(), "again.sh")
	p.show(p.run(0, f.args("backup", "2", "-o", again, "--json")...))
	one, err := os.ReadFile(script)
	two, err2 := os.ReadFile(again)
	if err := errors.Join(err, err2); err != nil || !strings.Contains(string(one), "backup NEW-DIRECTORY") ||
		strings.Count(string(one), "\n") != strings.Count(string(two), "\n") {
		t.Errorf("%v\n%s\n%s", err, one, two)
	}
	if out, err := exec.Command("sh", script, "backup").CombinedOutput(); err == nil || !strings.Contains(string(out), "usage: ") {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := f.sql(listDatabases); err != nil || strings.Contains(out, "filewise_") {
		t.Errorf("a restored database is left: %q, %v", out, err)
	}
}

// measure plans, examines, tries every statement and runs.
func (f *existing) measure(t *testing.T, p *place) {
	p.show(p.run(0, f.args("plan", externalRun("200ms")...)...))
	p.show(p.run(0, f.args("engines")...))
	c := p.run(0, f.args("doctor", "--self-check", "--yes", "--anonymous")...)
	p.show(c)
	if !strings.Contains(c.stdout.String(), "  ok       orders with churn on ") || strings.Contains(c.stdout.String(), "  failed ") {
		t.Errorf("doctor:\n%s", &c.stdout)
	}
	p.show(p.run(0, f.args("run", externalRun("200ms")...)...))
	p.show(p.run(0, "report", "--format", "json"))
	p.show(p.run(0, "export", "--format", "json"))
	_, _, plan, trials := p.newest()
	if complete, err := inOrder(plan, trials); err != nil || !complete {
		t.Errorf("complete %v: %v", complete, err)
	}
	f.apply(t, p)
	// A password that is not the account's is in no error either.
	at := strings.Replace(f.target, "filewise@", "filewise:Qq7Canary@", 1)
	c = p.run(3, "run", "--target", at)
	if strings.Contains(c.stderr.String()+c.stdout.String(), "Qq7Canary") {
		t.Errorf("the refused password is shown: %s", &c.stderr)
	}
}

// apply writes scripts, and executes nothing: what the server holds is compared at the end.
func (f *existing) apply(t *testing.T, p *place) {
	if f.layout == "" {
		return
	}
	there := filepath.Join(t.TempDir(), "there.sql")
	args := f.args("apply", "--layout="+f.layout, "--output="+there)
	if c := p.run(3, append(args, "--table=fw_rows")...); !strings.Contains(c.stderr.String(), "fw_rows") {
		t.Errorf("the table is not named: %s", &c.stderr)
	}
	p.run(2, append(args, "--layout=none")...)
	p.show(p.run(0, append(args, "--table=kept")...))
	for _, path := range []string{there, strings.Replace(there, ".sql", "-back.sql", 1)} {
		text, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(text), "kept") || strings.Contains(string(text), "SAYS NOTHING") {
			t.Errorf("%v\n%s", err, text)
		}
	}
	p.show(p.run(0, append(args, "--table=kept", "--json")...))
}

// killAndClean kills a run while its database is there. No other run can start during it, from another host neither;
// what it leaves is removed by clean alone.
func (f *existing) killAndClean(t *testing.T, p *place) {
	c := p.start("filewise", f.args("run", externalRun("60s")...)...)
	if err := until(time.Minute, func() (bool, error) { return f.holdsWithDatabase(c) }); err != nil {
		t.Fatalf("no database is built: %v\n%s", err, &c.stderr)
	}
	other := newPlace(t)
	other.env = append(other.env, "FILEWISE_PASSWORD="+accountPassword)
	if o := other.run(4, f.args("run", externalRun("200ms")...)...); !strings.Contains(o.stderr.String(), "process") {
		t.Errorf("the refusal does not say who measures: %s", &o.stderr)
	}
	if kept := p.run(0, f.args("clean", "--yes")...); !strings.Contains(kept.stdout.String(), "kept ") ||
		strings.Contains(kept.stdout.String(), "removed ") {
		t.Errorf("clean beside a living run:\n%s%s", &kept.stdout, &kept.stderr)
	}
	_ = c.Process.Kill()
	<-c.ended
	p.run(0, "engines") // sweeps this machine, no server
	if out, err := f.sql(listDatabases); err != nil || !strings.Contains(out, "filewise_") {
		t.Fatalf("the kill left nothing: %q, %v", out, err)
	}
	p.run(2, f.args("clean")...) // no terminal for a question
	dry := p.run(0, f.args("clean", "--dry-run")...)
	p.show(dry)
	var said bytes.Buffer
	if err := until(time.Minute, func() (bool, error) { // the server may still list the dead sessions
		c := p.run(0, f.args("clean", "--yes")...)
		said.Write(c.stdout.Bytes())
		return strings.Contains(c.stdout.String(), "Nothing was left behind"), nil
	}); err != nil || !strings.Contains(said.String(), "removed ") {
		t.Errorf("clean: %v\n%s", err, &said)
	}
}

// holdsWithDatabase stops a run's process when it has built a database, and reports whether that is still there with
// all of the run's statements finished: so it stays until the run goes on or is killed, however long that takes.
func (f *existing) holdsWithDatabase(c *child) (bool, error) {
	if out, err := f.sql(listDatabases); err != nil || !strings.Contains(out, "filewise_") {
		return false, err
	}
	if err := c.Process.Signal(syscall.SIGSTOP); err != nil {
		return false, err
	}
	err := until(time.Minute, func() (bool, error) {
		out, err := f.sql(f.working)
		return strings.TrimSpace(out) == "0", err
	})
	out, listing := f.sql(listDatabases)
	if err = errors.Join(err, listing); err == nil && strings.Contains(out, "filewise_") {
		return true, nil
	}
	return false, errors.Join(err, c.Process.Signal(syscall.SIGCONT))
}

// show keeps a command's output, where noPassword looks.
func (p *place) show(c *child) {
	p.t.Helper()
	f, err := os.OpenFile(filepath.Join(filepath.Dir(p.store), "said"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = fmt.Fprintf(f, "%s\n%s\n", &c.stdout, &c.stderr)
		_ = f.Close()
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// noPassword: neither store, state nor output holds it, escaped or not.
func (p *place) noPassword() {
	p.t.Helper()
	files := 0
	err := filepath.WalkDir(filepath.Dir(p.store), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		files++
		b, err := os.ReadFile(path)
		for _, secret := range []string{accountPassword, url.QueryEscape(accountPassword), url.PathEscape(accountPassword), "Can@ary"} {
			if bytes.Contains(b, []byte(secret)) {
				p.t.Errorf("%s holds the password", path)
			}
		}
		return err
	})
	if err != nil || files < 3 {
		p.t.Errorf("%d files were looked at: %v", files, err)
	}
}

const listDatabases = "SELECT '' -- replaced by the server's own"

func externalMariaDB(t *testing.T) *existing {
	needServer(t)
	own := startOwn(t)
	f := &existing{daemon: own.daemon, own: "shop", options: "compress=no,yes", working: workingInnoDB, sql: own.sql,
		target: "mariadb://filewise@/?host=" + filepath.Join(own.dir, "own.sock")}
	f.populate(t, own, "BY '"+accountPassword+"'", "SELECT * FROM mysql.global_priv ORDER BY Host, User; "+
		fmt.Sprintf(flushed, "information_schema"))
	f.prepare(t, "GRANT SELECT, SHOW VIEW, TRIGGER, EVENT, LOCK TABLES ON shop.* TO filewise",
		"GRANT RELOAD, BINLOG MONITOR ON *.* TO filewise")
	return f
}

func externalMySQL(t *testing.T) *existing {
	needServer(t) // its client
	own := startOwnMySQL(t)
	f := &existing{daemon: own.daemon, target: "mysql://filewise@/?host=" + filepath.Join(own.dir, "own.sock"), sql: own.sql,
		working: workingInnoDB}
	// A server asks for no public key if its own end is a socket, as a line's end is.
	f.populate(t, own, "WITH mysql_native_password BY '"+accountPassword+"'", "SELECT * FROM mysql.user ORDER BY Host, User; "+
		fmt.Sprintf(flushed, "performance_schema"))
	return f
}

// flushed reports for a schema's table whether the server's statistics were cleared since its start.
const flushed = "SELECT COUNT(DISTINCT VARIABLE_VALUE) FROM %s.global_status WHERE VARIABLE_NAME LIKE 'Uptime%%'"

// populate makes things of a user's, the account, and the dump of all.
func (f *existing) populate(t *testing.T, own *ownServer, identified, accounts string) {
	f.prepare(t, "CREATE USER filewise@'%' IDENTIFIED "+identified,
		"CREATE DATABASE shop; CREATE TABLE shop.orders (id INT PRIMARY KEY, what VARCHAR(20)); INSERT INTO shop.orders VALUES (1, 'tea'), "+
			"(2, 'cups')",
		"CREATE DATABASE filewise2; CREATE TABLE filewise2.fw_rows (id INT PRIMARY KEY); INSERT INTO filewise2.fw_rows VALUES (7)",
		"CREATE PROCEDURE shop.fw_inserts() SELECT 1")
	f.grant(t, f.target[:strings.Index(f.target, ":")])
	f.dump = func() (string, error) {
		out, err := exec.Command("mariadb-dump", "--no-defaults", "--socket="+filepath.Join(own.dir, "own.sock"), "--user=root", "--routines",
			"--skip-dump-date", "--order-by-primary", "--databases", "shop", "filewise", "filewise2").CombinedOutput()
		if err != nil {
			return string(out), err
		}
		catalogue, err := f.sql("SHOW DATABASES; " + accounts + "; SELECT * FROM mysql.db; SHOW GLOBAL " +
			"VARIABLES WHERE Variable_name NOT LIKE '%timestamp%' AND Variable_name NOT LIKE 'gtid%'; " +
			"SELECT * FROM performance_schema.setup_consumers ORDER BY 1; " +
			"SELECT NAME, ENABLED, TIMED FROM performance_schema.setup_instruments ORDER BY 1")
		return string(out) + catalogue, err
	}
}

const workingInnoDB = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER = 'filewise' AND COMMAND <> 'Sleep'"

// sql runs statements on the existing server.
func (o *ownServer) sql(s string) (string, error) {
	if s == listDatabases {
		s = "SHOW DATABASES LIKE 'filewise\\_%'"
	}
	return o.ask(s)
}

// prepare executes statements as the server's owner.
func (f *existing) prepare(t *testing.T, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if out, err := f.sql(s); err != nil {
			t.Fatalf("%s: %v\n%s", s, err, out)
		}
	}
}

// grant gives the account exactly what the engine documents.
func (f *existing) grant(t *testing.T, engine string) {
	t.Helper()
	e, err := registry().Lookup(engine)
	if err != nil {
		t.Fatal(err)
	}
	for _, right := range e.Describe().Rights {
		if strings.Contains(right, " TABLESPACE name ") { // for volumes, of which there are none
			continue
		}
		f.prepare(t, strings.ReplaceAll(right, "'…'", "'"+accountPassword+"'"))
	}
}

// postgresBin is the directory of an installed PostgreSQL. Empty means there is none.
func postgresBin() string {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		return ""
	}
	return filepath.Dir(found[0])
}

func externalPostgres(t *testing.T) *existing {
	f, _ := startPostgres(t)
	return f
}

var token = regexp.MustCompile(`(?m)^\\(un)?restrict .*$`) // random, in newer dumps

// startPostgres starts one with settings, its socket in dir.
func startPostgres(t *testing.T, settings ...string) (f *existing, dir string) {
	bin := postgresBin()
	if bin == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("the commands were not tried on PostgreSQL: it is not installed (apt-get install postgresql)")
		}
		t.Skip("PostgreSQL is not installed: apt-get install postgresql")
	}
	dir, err := os.MkdirTemp("", "pg") // short, for its socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	as := func(program string, args ...string) *exec.Cmd { // it refuses to run as root
		if os.Getuid() != 0 {
			return exec.Command(program, args...)
		}
		return exec.Command("setpriv", append([]string{"--reuid=postgres", "--regid=postgres", "--clear-groups", program}, args...)...)
	}
	if os.Getuid() == 0 {
		if out, err := exec.Command("chown", "postgres:postgres", dir).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	create := as(filepath.Join(bin, "initdb"), "--pgdata="+filepath.Join(dir, "data"), "--username=owner", "--auth-local=trust", "--no-sync")
	if out, err := create.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	// The owner is trusted, the account has to give its password.
	hba := "local all owner trust\nlocal all all scram-sha-256\n"
	if err := os.WriteFile(filepath.Join(dir, "data", "pg_hba.conf"), []byte(hba), 0o644); err != nil {
		t.Fatal(err)
	}
	server := as(filepath.Join(bin, "postgres"), append([]string{"-D", filepath.Join(dir, "data"), "-k", dir, "-c", "listen_addresses=",
		"-c", "fsync=off", "-c", "shared_buffers=8MB"}, settings...)...)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	own := &daemon{server}
	t.Cleanup(func() { _ = own.Process.Signal(os.Interrupt); _ = own.Wait() })
	f = &existing{daemon: own, layout: "2 partitions",
		own: "postgres", options: "compress=0,6", target: "postgres://filewise@/postgres?host=" + dir,
		working: "SELECT COUNT(*) FROM pg_stat_activity WHERE usename = 'filewise' AND state <> 'idle'"}
	client := func(program string, args ...string) (string, error) {
		cmd := exec.Command(filepath.Join(bin, program), append([]string{"--host=" + dir, "--username=owner"}, args...)...)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	f.sql = func(s string) (string, error) {
		if s == listDatabases {
			s = `SELECT datname FROM pg_database WHERE datname LIKE 'filewise\_%'`
		}
		return client("psql", "--no-psqlrc", "--tuples-only", "--dbname=postgres", "--command="+s)
	}
	if err := until(time.Minute, func() (bool, error) { _, err := f.sql("SELECT 1"); return err == nil, nil }); err != nil {
		t.Fatal(err)
	}
	f.grant(t, "postgres")
	f.prepare(t, "CREATE DATABASE shop", "CREATE DATABASE filewise2", "COMMENT ON DATABASE filewise2 IS 'mine'",
		"CREATE TABLE fw_rows AS SELECT 42 AS id", "CREATE TABLE kept (id int PRIMARY KEY)",
		"GRANT SELECT ON fw_rows, kept TO filewise")
	f.dump = func() (string, error) {
		out, err := client("pg_dumpall")
		if err != nil {
			return out, err
		}
		catalogue, err := f.sql("SELECT oid, datname, datdba FROM pg_database ORDER BY oid; SELECT oid, rolname FROM pg_roles ORDER BY oid; " +
			"SELECT oid, spcname FROM pg_tablespace; SELECT name, setting FROM pg_settings; SELECT pg_postmaster_start_time(); " +
			"SELECT stats_reset FROM pg_stat_bgwriter; SELECT datname, stats_reset FROM pg_stat_database WHERE datname = 'postgres'")
		return token.ReplaceAllString(out, "") + catalogue, err
	}
	return f, dir
}
