//go:build linux

package managed_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"filewise"
	"filewise/engine/innodb/dialect"
	"filewise/engine/innodb/managed"
	"filewise/lab/workload"
)

// The user's settings take effect and are reported; settings that the server
// does not have are named, before anything is built.
func testSettings(t *testing.T, sub subject) {
	sub.Need(t)
	ctx := deadline(t)
	target := sub.onScratch(t, 1)
	target.Durability = filewise.DurabilityNormal
	target.Settings = map[string]string{}
	want := map[string]string{"innodb_flush_log_at_trx_commit": "2", "performance_schema": "ON"}
	for name, v := range sub.Settings {
		target.Settings[name] = v[0]
		want[name+" (--set)"] = v[1]
	}
	s := sub.open(t, ctx, target)
	facts, err := s.Facts(ctx)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, f := range facts {
		got[f.Name] = f.Value
	}
	for name, want := range want {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
	if !strings.Contains(got["version"]+got["version_comment"], sub.Says) {
		t.Errorf("version %q", got["version"])
	}
	life(t, ctx, s, 1, systemLayout(2, 24<<20), inserts(t, nil))

	for name, value := range sub.Wrong {
		target.Settings = map[string]string{name: value}
		bad, err := sub.Engine.Open(ctx, target)
		if err == nil {
			bad.Close()
		}
		if filewise.CodeOf(err) != filewise.CodeUsage || !strings.Contains(fmt.Sprint(err), "--set "+name+"="+value) {
			t.Errorf("%s=%s: code %s, %v", name, value, filewise.CodeOf(err), err)
		}
	}
}

// Names and texts that try to break out of their quotes reach the server as
// they are, and directories can be called anything that InnoDB can read.
func testQuoting(t *testing.T, sub subject) {
	sub.Need(t)
	ctx := deadline(t)
	root := t.TempDir()
	target := filewise.Target{Engine: sub.Engine.Name(), Mode: filewise.Managed}
	for i, name := range []string{`it's # a "dir" \ here`, "b`; DROP DATABASE filewise -- $(touch x) %s '"} {
		dir := filepath.Join(root, name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		dir = strings.NewReplacer(append([]string{";", ""}, sub.Unreadable...)...).Replace(dir)
		target.Volumes = append(target.Volumes, filewise.Volume{Name: "v" + string(rune('1'+i)), Dir: dir})
		if err := os.MkdirAll(target.Volumes[i].Dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s := sub.open(t, ctx, target)
	w := inserts(t, nil)
	life(t, ctx, s, 2, systemLayout(4, 24<<20), w)
	partitions := systemLayout(4, 24<<20)
	partitions.Kind, partitions.Data.Allocation = filewise.KindPartitions, filewise.Growing
	life(t, ctx, s, 2, partitions, w)

	db := build(t, ctx, s, systemLayout(1, 24<<20), w)
	control := look(t, db).Control
	for _, evil := range []string{"a`b", "`; DROP DATABASE filewise; -- ", "x' OR '1'='1", `back\slash\`,
		`\'; DROP DATABASE filewise; -- `, "``", "ünï", "\"", "%s%d"} {
		quoted(t, control, evil)
	}
	for _, evil := range []string{"zero\x00byte", "line\nend\r", "\x1a"} {
		if got := echo(t, control, evil); got != evil {
			t.Errorf("%q comes back as %q", evil, got)
		}
	}
	colon := filewise.Target{Volumes: []filewise.Volume{{Name: "v", Dir: filepath.Join(root, "a:b")}}}
	if _, err := sub.Engine.Statements(colon, systemLayout(4, 24<<20), w.Program()); !errors.Is(err, filewise.ErrUnsupported) {
		t.Errorf("a directory that InnoDB cannot read: %v", err)
	}
}

// own reports whether a server can have the file open in addition to its volumes'.
func (sub subject) own(path string) bool {
	return slices.ContainsFunc(sub.Own, func(dir string) bool { return strings.HasPrefix(path, dir) })
}

func echo(t *testing.T, control *sql.DB, text string) (got string) {
	t.Helper()
	if err := control.QueryRowContext(t.Context(), "SELECT "+dialect.Literal(text)).Scan(&got); err != nil {
		t.Errorf("%q: %v", text, err)
	}
	return got
}

// quoted makes a database of that name, finds it, and drops it.
func quoted(t *testing.T, control *sql.DB, name string) {
	t.Helper()
	if got := echo(t, control, name); got != name {
		t.Errorf("%q comes back as %q", name, got)
	}
	if strings.TrimRight(name, " ") != name { // the servers' own rule
		name = strings.TrimRight(name, " ")
	}
	if _, err := control.ExecContext(t.Context(), "CREATE DATABASE "+dialect.Ident(name)); err != nil {
		t.Errorf("%q: %v", name, err)
		return
	}
	var n int
	err := control.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM information_schema.SCHEMATA "+
		"WHERE SCHEMA_NAME = "+dialect.Literal(name)).Scan(&n)
	if err != nil || n != 1 {
		t.Errorf("%d databases %q: %v", n, name, err)
	}
	if _, err := control.ExecContext(t.Context(), "DROP DATABASE "+dialect.Ident(name)); err != nil {
		t.Errorf("%q: %v", name, err)
	}
}

// A managed server has nothing open but its own and the system's files, however
// long the path of its directory is.
func testReach(t *testing.T, sub subject) {
	sub.Need(t)
	ctx := deadline(t)
	target := sub.onScratch(t, 1)
	outer := target.Volumes[0].Dir
	for len(target.Volumes[0].Dir) < 180 {
		target.Volumes[0].Dir = filepath.Join(target.Volumes[0].Dir, "a-directory-with-a-long-name")
	}
	if err := os.MkdirAll(target.Volumes[0].Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var pid int
	target.OnStart = func(p int) error { pid = p; return nil }
	s := sub.open(t, ctx, target)
	w := inserts(t, nil)
	db := build(t, ctx, s, systemLayout(4, 24<<20), w)
	work(t, ctx, db, w, 0, 10)
	files, err := managed.OpenFiles(pid)
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for path := range files {
		if !strings.HasPrefix(path, outer) && !strings.HasPrefix(path, "/dev/") && !sub.own(path) {
			t.Errorf("the server has %s open", path)
		}
	}
	sockets, err := filepath.Glob(filepath.Join(target.Volumes[0].Dir, "*", "data", "fw.sock"))
	if err != nil || len(sockets) != 1 {
		t.Errorf("sockets %v, %v", sockets, err)
	}
	tcp, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/tcp", pid))
	if err != nil {
		t.Fatal(err)
	}
	if inodes := socketInodes(t, pid); strings.Contains(string(tcp), " 0A ") {
		for _, line := range strings.Split(string(tcp), "\n") {
			f := strings.Fields(line)
			if len(f) > 9 && f[3] == "0A" && inodes[f[9]] {
				t.Errorf("the server listens on TCP: %s", line)
			}
		}
	}
}

func socketInodes(t *testing.T, pid int) map[string]bool {
	t.Helper()
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, e := range entries {
		if to, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", pid, e.Name())); err == nil {
			if inode, ok := strings.CutPrefix(to, "socket:["); ok {
				all[strings.TrimSuffix(inode, "]")] = true
			}
		}
	}
	return all
}

// The most files that InnoDB takes are built and found; one more is refused.
func testMostFiles(t *testing.T, sub subject) {
	sub.Need(t)
	ctx := deadline(t)
	s := sub.open(t, ctx, sub.onScratch(t, 2))
	w := inserts(t, func(p *workload.Params) { p.Connections = 2 })
	l := systemLayout(dialect.MaxSystemFiles, 1001<<20)
	db := build(t, ctx, s, l, w)
	files, err := db.Observe(ctx)
	if err != nil || len(files) < dialect.MaxSystemFiles {
		t.Errorf("%d files: %v", len(files), err)
	}
	if err := db.Drop(ctx); err != nil {
		t.Error(err)
	}
	l.Data.Files++
	if _, err := s.Build(ctx, l, w.Program()); !errors.Is(err, filewise.ErrUnsupported) || !strings.Contains(fmt.Sprint(err), "999") {
		t.Errorf("1,000 files: %v", err)
	}
	l.Kind, l.Data.Allocation = filewise.KindPartitions, filewise.Growing
	db = build(t, ctx, s, l, w)
	if files, err := db.Observe(ctx); err != nil || len(files) < 1000 {
		t.Errorf("%d files: %v", len(files), err)
	}
	ledger := work(t, ctx, db, w, 0, 600)
	if err := w.Check(ctx, db, 0, []filewise.Ledger{ledger}); err != nil {
		t.Error(err)
	}
}
