package postgres

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"filewise"
	"filewise/engine/postgres/client"
	"filewise/engine/postgres/installed"
	"filewise/internal/marker"
	"filewise/lab/workload"
	"filewise/own/backup"
)

// ownBackedUp: a database of the user's is backed up while it is written to, restored to a
// marked name and compared with what it was at that moment; nothing of it changes, and the
// script makes and restores the same backup without Filewise.
func ownBackedUp(t *testing.T, f *usersServer) {
	const database = `sh'op "x`
	quoted := `"sh'op ""x"`
	f.do("CREATE DATABASE "+quoted, "CREATE DATABASE again OWNER filewise_account")
	link, again := f.admin.To(database), f.admin.To("again")
	defer func() {
		link.Close()
		again.Close()
		f.do("DROP DATABASE "+quoted+" WITH (FORCE)", "DROP DATABASE again WITH (FORCE)")
	}()
	must(t, link.Exec(deadline(t), append(slices.Clone(shopSchema), "GRANT SELECT ON ALL TABLES IN SCHEMA public TO filewise_account",
		"GRANT SELECT ON ALL SEQUENCES IN SCHEMA public TO filewise_account")...))
	superusers := []string{"CREATE EXTENSION pg_stat_statements",
		"CREATE FUNCTION seen() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END'",
		"CREATE EVENT TRIGGER seen ON ddl_command_end EXECUTE FUNCTION seen()", "COMMENT ON EVENT TRIGGER seen IS 'x'",
		"CREATE PUBLICATION everything FOR ALL TABLES WITH (publish = 'insert')"}
	must(t, link.Exec(deadline(t), superusers...))
	must(t, link.Exec(deadline(t), "CREATE MATERIALIZED VIEW empty AS SELECT 1 AS n WITH NO DATA", "SELECT lo_from_bytea(4711, 'large')",
		"GRANT SELECT ON LARGE OBJECT 4711 TO filewise_account", "GRANT SELECT ON empty TO filewise_account",
		"SELECT net FROM orders WHERE id = 5"))
	target := f.target(filewise.Volume{Name: "a", Dir: t.TempDir()}, filewise.Volume{Name: "b", Dir: t.TempDir()})
	target.Database, target.ServerBin = database, f.in.Bin
	f.do("ALTER ROLE filewise_account NOCREATEDB")
	e := &copying{}
	poor := e.open(t, target)
	f.do("ALTER ROLE filewise_account CREATEDB")
	all := poor.(filewise.ExternalServer).Examine(deadline(t), filewise.Demand{})
	if !slices.ContainsFunc(all, func(found filewise.Finding) bool {
		return found.Check == "rights" && found.Status == filewise.StatusWarning && strings.Contains(found.Remedy, "CREATEDB")
	}) {
		t.Errorf("without a right: %+v", all)
	}
	server := e.open(t, target)
	for _, found := range server.(filewise.ExternalServer).Examine(deadline(t), filewise.Demand{}) {
		if found.Status == filewise.StatusFailed {
			t.Errorf("%+v", found)
		}
	}
	layout := filewise.Layout{Name: "2 jobs", Kind: filewise.KindPartitions, Backup: filewise.Spread{Files: 2},
		BackupOptions: filewise.BackupOptions("").With("compress", "1").With("volume", "b")}
	w, err := workload.NewDump(workload.Params{Own: true, Proof: true}, 1)
	must(t, err)
	program := w.Program()
	build := func(l filewise.Layout, p filewise.Program) *filewise.Database {
		t.Helper()
		db, err := server.Build(deadline(t), l, p)
		must(t, err)
		return db
	}

	before := f.dump(t, database)
	db := build(layout, program)
	files, err := db.Backup.Backup(deadline(t))
	must(t, err)
	if len(files) < 4 || files[0].Volume != "b" || files[0].Bytes == 0 {
		t.Errorf("the backup is %+v", files)
	}
	must(t, link.Exec(deadline(t), "INSERT INTO lines (\"order\", what) VALUES (1, 'meanwhile')")) // is no part of it
	must(t, db.Backup.Restore(deadline(t)))
	must(t, db.Backup.Verify(deadline(t)))
	names, err := f.admin.Texts(deadline(t), "SELECT datname::text FROM pg_database")
	must(t, err)
	if names = slices.DeleteFunc(names, func(name string) bool { return !marker.IsName(name) }); len(names) != 1 {
		t.Fatalf("it was restored to %s", names)
	}
	restored := f.admin.To(names[0])
	must(t, restored.Exec(deadline(t), "SELECT lo_put(4711, 0, 'L')"))
	if err := db.Backup.Verify(deadline(t)); !errors.Is(err, filewise.ErrCheck) || !strings.Contains(err.Error(), "large object 4711") {
		t.Errorf("a large object that differs: %v", err)
	}
	must(t, restored.Exec(deadline(t), "SELECT lo_put(4711, 0, 'l')"))
	must(t, restored.Exec(deadline(t), "UPDATE lines SET what = 'other' WHERE id = 3"))
	restored.Close()
	if err := db.Backup.Verify(deadline(t)); !errors.Is(err, filewise.ErrCheck) || !strings.Contains(err.Error(), "public.lines") {
		t.Errorf("a row that differs: %v", err)
	}
	must(t, db.Drop(deadline(t)))
	if left, err := os.ReadDir(target.Volumes[1].Dir); err != nil || slices.ContainsFunc(left, os.DirEntry.IsDir) {
		t.Errorf("left are %v (%v)", left, err)
	}
	must(t, link.Exec(deadline(t), "DELETE FROM lines WHERE what = 'meanwhile'", "SELECT setval('lines_id_seq', 1000)"))

	ownCopied(t, f, e, server, target, program)
	ownPart(t, target, layout, program)
	thrown := layout
	thrown.Discard = true
	db = build(thrown, program)
	if files, err := db.Backup.Backup(deadline(t)); err != nil || files != nil {
		t.Errorf("thrown away: %v, %v", files, err)
	}
	must(t, db.Drop(deadline(t)))
	counters, err := db.Probes[0].Read(deadline(t))
	must(t, err)
	if counters[0].Value < 1 || counters[1].Value <= 0 {
		t.Errorf("its own work is %+v", counters)
	}
	must(t, server.Close())

	text, err := backup.Postgres{}.BackupScript(target, layout, program)
	must(t, err)
	must(t, again.Exec(deadline(t), "CREATE EXTENSION pg_stat_statements")) // as the script's head asks
	must(t, link.Exec(deadline(t), "DROP EVENT TRIGGER seen", "DROP PUBLICATION everything"))
	to := filepath.Join(t.TempDir(), "backup")
	for i, lines := range [][]string{text.Backup, text.Restore} {
		cmd := exec.CommandContext(deadline(t), "sh", "-euc", strings.Join(lines, "\n"), "sh")
		cmd.Args = append(cmd.Args, [][]string{{"--verbose"}, {"--no-owner", "--no-comments"}}[i]...)
		cmd.Env = []string{"PATH=" + f.in.Bin + ":" + os.Getenv("PATH"), "PGPASSWORD=" + password, "database=again",
			"to=" + to, "from=" + to, "LD_LIBRARY_PATH=" + os.Getenv("LD_LIBRARY_PATH")}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s\n%s", err, out, lines)
		}
	}
	if want, got := f.dump(t, database, unplaced...), f.dump(t, "again", unplaced...); !slices.Equal(got, want) {
		t.Errorf("the script restored:\n%s", difference(want, got))
	}
	must(t, link.Exec(deadline(t), superusers[2:]...))
	if after := f.dump(t, database); !slices.Equal(before, after) {
		t.Errorf("the database has changed:\n%s", difference(before, after))
	}
}

// copying is the engine, whose last copy of a database a test has.
type copying struct {
	Engine
	made *client.Copy
}

func (e *copying) CopyDatabase(ctx context.Context, t filewise.Target) (_ *client.Copy, err error) {
	e.made, err = e.Engine.CopyDatabase(ctx, t)
	return e.made, err
}

// open opens the server of a user's database, and closes it at the end of the test.
func (e *copying) open(t *testing.T, target filewise.Target) filewise.Server {
	t.Helper()
	s, err := backup.Postgres{}.OpenOwn(deadline(t), e, target)
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	return s
}

// ownPart: of a part that table alone is dumped, and a part that is not there is refused with those that are.
func ownPart(t *testing.T, target filewise.Target, layout filewise.Layout, program filewise.Program) {
	t.Helper()
	target.Part = []string{"public.lines"}
	server := (&copying{}).open(t, target)
	sized := func(s filewise.Server) (filewise.BackupSize, error) {
		return s.(interface {
			BackupSize(context.Context) (filewise.BackupSize, error)
		}).BackupSize(deadline(t))
	}
	size, err := sized(server)
	if err != nil || size.Bytes <= 0 || size.Bytes >= size.Whole {
		t.Errorf("the part takes %+v: %v", size, err)
	}
	db, err := server.Build(deadline(t), layout, program)
	must(t, err)
	files, err := db.Backup.Backup(deadline(t))
	if err != nil || len(files) != 2 { // toc.dat and the table's
		t.Errorf("the backup of one table is %+v: %v", files, err)
	}
	must(t, db.Drop(deadline(t)))
	target.Part = []string{"public.liens"}
	if _, err := sized((&copying{}).open(t, target)); err == nil || !strings.Contains(filewise.RemedyOf(err), "public.lines") {
		t.Errorf("a table that is not there: %v", err)
	}
}

// ownCopied: pgBackRest backs up a managed copy, whose restore is compared with it; the configuration has the setting.
func ownCopied(t *testing.T, f *usersServer, e *copying, server filewise.Server, target filewise.Target, program filewise.Program) {
	t.Helper()
	layout := filewise.Layout{Name: "2 jobs", Kind: filewise.KindPartitions, Backup: filewise.Spread{Files: 2},
		BackupOptions: filewise.BackupOptions("").With("compress", "1").With("tool", toolPgBackRest)}

	if f.in.BackRest(t.Context()) != nil {
		if _, err := server.Build(deadline(t), layout, program); !errors.Is(err, filewise.ErrUnsupported) ||
			!strings.Contains(err.Error(), "does not support PostgreSQL") {
			t.Errorf("a release that pgBackRest does not know: %v", err)
		}
		return
	}
	db, err := server.Build(deadline(t), layout, program)
	must(t, err)
	files, err := db.Backup.Backup(deadline(t))
	must(t, err)
	if len(files) < 5 || files[0].Volume != "a" || !strings.HasPrefix(files[0].Path, filepath.Join(target.Volumes[0].Dir, "backup")) {
		t.Errorf("the backup is %+v", files)
	}
	manifest, err := filepath.Glob(filepath.Join(target.Volumes[0].Dir, "backup/backup", installed.Stanza, "*/backup.manifest"))
	if err != nil || len(manifest) == 0 {
		t.Fatalf("no manifest: %v", err)
	}
	said, err := os.ReadFile(manifest[0])
	must(t, err)
	for _, want := range []string{"option-process-max=2", `option-compress-type="gz"`, "option-compress-level=1"} {
		if !strings.Contains(string(said), want) {
			t.Errorf("the backup was made without %s", want)
		}
	}
	must(t, db.Backup.Restore(deadline(t)))
	must(t, db.Backup.Verify(deadline(t)))
	must(t, e.made.Link.Exec(deadline(t), "UPDATE lines SET what = 'other' WHERE id = 3"))
	if err := db.Backup.Verify(deadline(t)); !errors.Is(err, filewise.ErrCheck) || !strings.Contains(err.Error(), "public.lines") {
		t.Errorf("a row that differs: %v", err)
	}
	must(t, db.Drop(deadline(t)))
	text, err := backup.Postgres{}.BackupScript(target, layout, program)
	must(t, err)
	if len(text.Others) != 1 || !strings.Contains(text.Others[0].Text, "process-max=2\ncompress-type=gz\ncompress-level=1") {
		t.Errorf("the configuration is %+v", text.Others)
	}
	layout.BackupOptions = layout.BackupOptions.With("volume", "b")
	if _, err := server.Build(deadline(t), layout, program); !errors.Is(err, filewise.ErrUnsupported) {
		t.Errorf("a repository apart from the copy: %v", err)
	}
}
