//go:build linux

package managed_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"filewise"
	"filewise/lab/workload"
)

func dump(t *testing.T) filewise.Workload {
	t.Helper()
	w, err := workload.NewDump(workload.Params{Rows: 2500}, 5)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// dumpLayout is of data on one volume, dumped next to it in pieces by three jobs.
func dumpLayout() filewise.Layout {
	l := phaseLayout(filewise.KindPartitions, 2, 16<<20)
	l.Backup, l.LogVolume = filewise.Spread{Files: 3, Placement: filewise.PlaceApart}, "v3"
	l.Data.Volumes = "v1"
	l.BackupOptions = "compress=yes,rows=1000"
	return l
}

// restored restores a dump as a run does, which repeats a trial that failed. MariaDB from 10.6 on locks
// a whole table when the first row is inserted into it without checks of uniqueness. So two of myloader's
// threads can deadlock on an empty table, and myloader 0.10 gives up.
func restored(t *testing.T, ctx context.Context, db *filewise.Database) {
	t.Helper()
	const tries = 5
	for n := 1; ; n++ {
		err := db.Backup.Restore(ctx)
		if err == nil {
			return
		}
		if n == tries || !strings.Contains(err.Error(), "Deadlock found") {
			t.Fatal(err)
		}
		if _, err := look(t, db).Control.ExecContext(ctx, "DROP DATABASE filewise_restored"); err != nil {
			t.Fatal(err)
		}
	}
}

// testDumps: a cancelled dump leaves nothing in the way; one that is made while
// transactions are committed has all of each or nothing; what differs from the
// original, and a damaged dump, are seen.
func testDumps(t *testing.T, sub subject) {
	sub.Need(t)
	ctx, w := deadline(t), dump(t)
	target := sub.onScratch(t, 3)
	target.Durability = filewise.DurabilityOff // what is tested are files and rows
	db := build(t, ctx, sub.open(t, ctx, target), dumpLayout(), w)
	load(t, ctx, db, w)
	if err := db.Backup.Restore(ctx); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the restore of what was never dumped: %v", err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := db.Backup.Backup(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled dump: %v", err)
	}
	discard(t, ctx, db)

	stop := transfers(t, ctx, db)
	files, err := db.Backup.Backup(ctx)
	stop()
	if err != nil {
		t.Fatal(err)
	}
	pieces := 0
	for _, f := range files {
		if f.Role != filewise.RoleBackup || f.Volume != "v2" || f.Bytes < 1 {
			t.Errorf("%+v", f)
		}
		if strings.HasPrefix(filepath.Base(f.Path), "filewise.fw_frag") && strings.HasSuffix(f.Path, ".sql.gz") &&
			!strings.Contains(f.Path, "-schema") {
			pieces++
		}
	}
	if pieces < 8 {
		t.Errorf("the tables are dumped in %d pieces: %+v", pieces, files)
	}
	restored(t, ctx, db)
	var apart int64
	if err := look(t, db).Control.QueryRowContext(ctx,
		"SELECT (SELECT SUM(val2) FROM filewise_restored.fw_frag1) + (SELECT SUM(val2) FROM filewise_restored.fw_frag4)"+
			" - (SELECT SUM(val2) FROM filewise.fw_frag1) - (SELECT SUM(val2) FROM filewise.fw_frag4)").Scan(&apart); err != nil || apart != 0 {
		t.Errorf("the dump has a half of a transaction: %d, %v", apart, err)
	}
	if err := db.Backup.Verify(ctx); err != nil { // val2 is in no check
		t.Error(err)
	}
	if _, err := look(t, db).Control.ExecContext(ctx, "DELETE FROM filewise_restored.fw_frag2 WHERE id = 7"); err != nil {
		t.Fatal(err)
	}
	if err := db.Backup.Verify(ctx); !errors.Is(err, filewise.ErrCheck) {
		t.Errorf("a row that the original has and the restored table has not is %v", err)
	}
	lost := slices.IndexFunc(files, func(f filewise.File) bool { return strings.HasSuffix(f.Path, "fw_frag3.00001.sql.gz") })
	if lost < 0 || os.Remove(files[lost].Path) != nil {
		t.Fatalf("no second piece of fw_frag3 among %+v", files)
	}
	if _, err := look(t, db).Control.ExecContext(ctx, "DROP DATABASE filewise_restored"); err != nil {
		t.Fatal(err)
	}
	if err = db.Backup.Restore(ctx); err == nil {
		err = db.Backup.Verify(ctx)
	}
	if err == nil {
		t.Error("a dump without a piece was restored and verified")
	}
	discard(t, ctx, db)
	for _, f := range files {
		if _, err := os.Lstat(f.Path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there: %v", f.Path, err)
		}
	}
	if err := db.Drop(ctx); err != nil {
		t.Error(err)
	}
}

func discard(t *testing.T, ctx context.Context, db *filewise.Database) {
	t.Helper()
	for range 2 { // the second time there is nothing
		if err := db.Backup.Discard(ctx); err != nil {
			t.Fatal(err)
		}
	}
}

// transfers moves a value between two tables in transactions until the returned
// function is called; some are committed before it returns.
func transfers(t *testing.T, ctx context.Context, db *filewise.Database) (stop func()) {
	t.Helper()
	control := look(t, db).Control
	begun, over, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	transfer := func() error {
		tx, err := control.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback() //nolint:errcheck // of a transaction that failed already
		for _, text := range []string{"UPDATE filewise.fw_frag1 SET val2 = val2 - 1 WHERE id = 9",
			"UPDATE filewise.fw_frag4 SET val2 = val2 + 1 WHERE id = 9"} {
			if _, err := tx.ExecContext(ctx, text); err != nil {
				return err
			}
		}
		return tx.Commit()
	}
	go func() {
		err := transfer()
		close(begun)
		for {
			select {
			case <-over:
				done <- err
				return
			default:
			}
			if err == nil {
				err = transfer()
			}
		}
	}()
	<-begun
	return func() {
		close(over)
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// testDumpPlans: what a dump cannot be is refused with the reason, and what can be is
// shown, with the versions of the programs.
func testDumpPlans(t *testing.T, sub subject) {
	sub.Need(t)
	target := sub.onScratch(t, 3)
	for name, c := range map[string]struct {
		says   string // of the refusal. If empty, there is none
		change func(*filewise.Layout)
	}{
		"pieces":    {"", func(*filewise.Layout) {}},
		"per table": {"", func(l *filewise.Layout) { l.Kind, l.Data.Files, l.BackupOptions = filewise.KindPerTable, 4, "" }},
		"system": {"system tablespace", func(l *filewise.Layout) {
			l.Kind, l.Data.Allocation = filewise.KindSystem,
				filewise.Preallocated
		}},
		"three volumes":  {"3 volumes", func(l *filewise.Layout) { l.Backup.Placement = filewise.PlaceRoundRobin }},
		"thrown away":    {"thrown away", func(l *filewise.Layout) { l.Discard = true }},
		"too many jobs":  {"65 jobs", func(l *filewise.Layout) { l.Backup.Files = 65 }},
		"unknown option": {"throttle", func(l *filewise.Layout) { l.BackupOptions = "throttle=3" }},
		"tiny pieces":    {"between 1000", func(l *filewise.Layout) { l.BackupOptions = "rows=10" }},
	} {
		l := dumpLayout()
		c.change(&l)
		script, err := sub.Engine.Statements(target, l, dump(t).Program())
		if c.says != "" {
			if filewise.CodeOf(err) != filewise.CodeUsage || !strings.Contains(err.Error(), c.says) || filewise.RemedyOf(err) == "" {
				t.Errorf("%s: %v; %s", name, err, filewise.RemedyOf(err))
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, want := range []string{"mydumper --defaults-file=", "myloader --defaults-file=", "--threads=3 --database=filewise_restored",
			"CHECK TABLE `filewise_restored`"} {
			if !slices.ContainsFunc(script.Steps, func(s filewise.Step) bool { return strings.Contains(s.SQL, want) }) {
				t.Errorf("%s: the script does not say %s", name, want)
			}
		}
		if len(script.Facts) != 2 || !strings.HasPrefix(script.Facts[0].Value, "0.") && !strings.HasPrefix(script.Facts[0].Value, "1.") {
			t.Errorf("%s: facts %v", name, script.Facts)
		}
	}
}
