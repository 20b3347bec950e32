package oracle

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"os"
	osexec "os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"filewise"
	managed "filewise/engine/internal/server"
	"filewise/engine/internal/sqlrows"
	"filewise/lab/workload"
)

// The PL/SQL of the workload is executed by MariaDB in sql_mode=ORACLE: an
// approximation, in which the text of the loop is Oracle's and the types and some
// functions are not. What is changed is listed in rewritten. That the rows and their checksum
// satisfy the workload's own check proves the arithmetic, not Oracle.

// rewritten are the changes of the text, in order.
var rewritten = []struct{ from, to string }{
	{`COMMIT WRITE \w+ \w+`, "COMMIT"},
	{`"FILEWISE_\w{18}PKG"\.`, ""},
	{`\bNUMBER\b([^(])`, "DECIMAL(20)$1"},
	{`\bNUMBER\(`, "DECIMAL("},
	{`\bVARCHAR2\b([^(])`, "VARCHAR(4000)$1"},
	{`\bBINARY_DOUBLE\b`, "DOUBLE"},
	{`\((\d+) BYTE\)`, "($1)"},
	{` PCTFREE \d+ PCTUSED \d+`, ""},
	{`( USING INDEX| SEGMENT CREATION IMMEDIATE)? TABLESPACE "\w+"`, ""},
	{`RAISE_APPLICATION_ERROR\(-20010, ('[^']+')\)`, "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = $1"},
	{`\bpool(\d)\b`, "@pool$1"},
	{`TO_CHAR\(`, "CONCAT('', "},
	{`TO_NUMBER\(SUBSTR\(RAWTOHEX\(STANDARD_HASH\((.*), 'MD5'\)\), 1, 8\), 'XXXXXXXX'\)`,
		"CAST(CONV(SUBSTR(MD5($1), 1, 8), 16, 10) AS UNSIGNED)"},
}

func adapt(text string) string {
	for _, d := range rewritten {
		text = regexp.MustCompile(d.from).ReplaceAllString(text, d.to)
	}
	return text
}

// startMariaDB starts a managed server and connects to it in Oracle's mode.
func startMariaDB(t *testing.T) *sql.DB {
	t.Helper()
	need := func(name string) string {
		path, err := osexec.LookPath(name)
		if err != nil {
			path, err = osexec.LookPath("/usr/sbin/" + name)
		}
		if err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatalf("the PL/SQL loop did not run: %v", err)
			}
			t.Skipf("NO MARIADB SERVER: %v; apt-get install mariadb-server", err)
		}
		return path
	}
	binary, install := need("mariadbd"), need("mariadb-install-db")
	asUser := "--skip-name-resolve" // changes nothing here
	if os.Geteuid() == 0 {
		asUser = "--user=root"
	}
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	if out, err := osexec.Command(install, "--no-defaults", "--datadir="+data, "--auth-root-authentication-method=normal", "--skip-test-db",
		asUser).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p, err := managed.Start(managed.Spec{
		Path: binary, Dir: data, Log: filepath.Join(dir, "log"),
		Args: []string{"--no-defaults", "--datadir=" + data, "--socket=fw.sock", "--skip-networking", asUser,
			"--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=16M"},
	})
	if err != nil {
		t.Fatal(err)
	}
	socket := managed.Socket{Dir: data, Name: "fw.sock"}
	c := mysql.NewConfig()
	c.User, c.Net, c.Addr, c.Logger = "root", "oracle-loop", "fw", &mysql.NopLogger{}
	c.Params = map[string]string{"sql_mode": "'ORACLE'"}
	mysql.RegisterDialContext("oracle-loop", socketDial(socket))
	connector, err := mysql.NewConnector(c)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	t.Cleanup(func() {
		db.Close()
		if err := p.Stop(context.Background(), syscall.SIGTERM, time.Minute); err != nil {
			t.Error(err)
		}
	})
	if err := p.Ready(t.Context(), time.Minute, db.PingContext); err != nil {
		t.Fatal(err)
	}
	return db
}

func TestLoopInMariaDB(t *testing.T) {
	db := startMariaDB(t)
	n := 0
	for _, table := range []string{workload.TableShared, workload.TablePerConnection} {
		for _, key := range []string{workload.KeySequential, workload.KeyRandom} {
			n++
			p := workload.Params{Connections: 2, RowBytes: 40, CommitEvery: 1 + 3*(n%2), Table: table, Key: key}
			t.Run(fmt.Sprint(table, " ", key), func(t *testing.T) { tryLoop(t, db, fmt.Sprint("fw", n), p) })
		}
	}
}

func tryLoop(t *testing.T, db *sql.DB, schema string, p workload.Params) {
	ctx := t.Context()
	conn, err := db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	run := func(text string, args ...any) {
		t.Helper()
		if _, err := conn.ExecContext(ctx, text, args...); err != nil {
			t.Fatalf("%v\n%.3000s", err, text)
		}
	}
	w, err := workload.NewInserts(p, 7)
	if err != nil {
		t.Fatal(err)
	}
	d, err := newDesign(filewise.Target{Mode: filewise.External, Volumes: testPlaces["omf"]},
		filewise.Layout{Data: filewise.Spread{Files: 1, Bytes: 64 << 20}}, w.Program(), testNames[0], usualBlock)
	if err != nil {
		t.Fatal(err)
	}
	run("CREATE DATABASE " + schema)
	run("USE " + schema)
	body, err := d.statement("package-body", table{})
	if err != nil {
		t.Fatal(err)
	}
	runBody(t, run, body.text)
	text := w.Program().First().Args.Pool()
	for _, place := range []int{0, 1, pieceSpan - 40, pieceSpan - 1, pieceSpan, 2*pieceSpan - 1, 2 * pieceSpan, workload.PoolSpan - 1} {
		var got string
		if err := conn.QueryRowContext(ctx, "SELECT cut(?)", place).Scan(&got); err != nil || got != text[place:place+p.RowBytes] {
			t.Errorf("the payload from %d is %q (%v), want %q", place, got, err, text[place:place+p.RowBytes])
		}
	}
	tables, err := d.statements("tables", table{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range tables {
		run(adapt(s.text))
	}
	ledger := make(filewise.Ledger, p.Connections)
	for _, table := range d.tables {
		s, err := d.statement("procedure-insert", table)
		if err != nil {
			t.Fatal(err)
		}
		run(adapt(s.text))
	}
	for round := range int64(2) { // in two calls each, the second going on where the first ended
		for worker := range p.Connections {
			count := 4 + 3*int64(worker) + round
			run(`CALL "`+d.tableOf(worker).Procedure+`"(?, ?, ?)`, worker, ledger[worker], count)
			ledger[worker] += count
		}
	}
	run("ROLLBACK") // what the procedure has not committed is not there
	q := loopQuerier{conn, d}
	if err := w.Check(ctx, q, 0, []filewise.Ledger{ledger}); err != nil {
		t.Error(err)
	}
	run(`UPDATE "` + d.tables[0].Name + `" SET payload = CONCAT('!', SUBSTR(payload, 2)) LIMIT 1`)
	if err := w.Check(ctx, q, 0, []filewise.Ledger{ledger}); err == nil {
		t.Error("a changed payload passes the check")
	}
	run(`UPDATE "` + d.tables[0].Name + `" SET payload = SUBSTR(payload, 2) LIMIT 1`)
	if err := w.Check(ctx, q, 0, []filewise.Ledger{ledger}); err == nil {
		t.Error("a shortened payload passes the check")
	}
}

var (
	function = regexp.MustCompile(`(?s)  FUNCTION (\w+).*?\n  END;`)
	poolText = regexp.MustCompile(`(?s)  (pool\d) CONSTANT VARCHAR2\(32767\) := (.*?);\n`)
)

// runBody executes the parts of the package's body: its texts and its function.
func runBody(t *testing.T, run func(string, ...any), body string) {
	t.Helper()
	texts := poolText.FindAllStringSubmatch(body, -1)
	if len(texts) != 3 {
		t.Fatalf("%d pieces of the text, want 3", len(texts))
	}
	for _, m := range texts {
		run("SET @" + m[1] + " = " + m[2])
	}
	all := function.FindAllStringSubmatch(body, -1)
	if len(all) != 1 || all[0][1] != "cut" {
		t.Fatalf("the package has %d functions, want cut", len(all))
	}
	run("CREATE " + adapt(strings.TrimSpace(all[0][0])))
}

type loopQuerier struct {
	conn   *sql.Conn
	design *design
}

func (q loopQuerier) Query(ctx context.Context, section string) ([][]any, error) {
	all, err := q.design.statements(section, q.design.tableOf(0))
	if err != nil {
		return nil, err
	}
	var out [][]any
	for _, s := range all {
		found, err := sqlrows.Query(ctx, q.conn, adapt(s.text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.text, err)
		}
		out = append(out, found...)
	}
	return trimmed(out), nil
}

func socketDial(s managed.Socket) mysql.DialContextFunc {
	return func(ctx context.Context, _ string) (net.Conn, error) { return s.Dial(ctx) }
}
