package postgres

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"filewise"
	"filewise/engine/postgres/installed"
	"filewise/lab/workload"
)

// backedUp returns a loaded build of the workload backup, or of the same as a dump.
func backedUp(t *testing.T, ctx context.Context, target filewise.Target, l filewise.Layout, name string) *filewise.Database {
	t.Helper()
	makes := map[string]func(workload.Params, uint64) (filewise.Workload, error){"backup": workload.NewBackup, "dump": workload.NewDump}
	w, err := makes[name](workload.Params{Rows: 1500}, 7)
	must(t, err)
	p := w.Program()
	_, err = Engine{}.Statements(target, l, p)
	must(t, err)
	db, err := open(t, ctx, target).Build(ctx, l, p)
	must(t, err)
	t.Cleanup(func() { must(t, db.Drop(context.Background())) })
	for _, table := range w.(filewise.Loadable).Data() {
		for batch := range table.Batches {
			must(t, db.Bulk.LoadBatch(ctx, table, batch))
		}
	}
	must(t, db.Bulk.Finish(ctx))
	must(t, w.Check(ctx, db, filewise.AsLoaded, nil))
	return db
}

// Backups by each tool, of data on several volumes with tablespaces and its own WAL, are
// restored; what was changed since shows.
func TestBackups(t *testing.T) {
	t.Parallel()
	need(t)
	backups(t, "", "pgbackrest", "pg_basebackup", "dump")
}

// A release that pgBackRest does not support is backed up by PostgreSQL's own programs.
func TestBackups18(t *testing.T) {
	t.Parallel()
	bin := need18(t)
	backups(t, bin, "pg_basebackup", "dump")
	in, err := installed.Find(t.Context(), bin)
	must(t, err)
	out, err := exec.Command(installed.PgBackRest.Names[0], "version").Output()
	must(t, err)
	if err := in.BackRest(t.Context()); strings.Contains(string(out), "2.45") && (!errors.Is(err, filewise.ErrUnsupported) ||
		!strings.Contains(err.Error(), "does not support PostgreSQL 18") || !strings.Contains(filewise.RemedyOf(err), "tool=pg_basebackup")) {
		t.Errorf("pgBackRest 2.45 on 18: %v; %s", err, filewise.RemedyOf(err))
	}
}

func backups(t *testing.T, bin string, tools ...string) {
	for _, tool := range tools {
		c := map[string]struct {
			workload, options string
			files             int
			least             int // backup files
		}{"pgbackrest": {"backup", "buffer=64KiB,compression=gz", 3, 5}, "pg_basebackup": {"backup", "tool=pg_basebackup", 1, 3},
			"dump": {"dump", "", 2, 5}}[tool]
		name := tool
		t.Run(name, func(t *testing.T) {
			ctx := deadline(t)
			target := onScratch(t, 3)
			target.ServerBin = bin
			l := partitions(2, 4<<20)
			l.LogVolume = "v3"
			l.Backup, l.BackupOptions = filewise.Spread{Files: c.files, Placement: filewise.PlaceApart}, filewise.BackupOptions(c.options)
			l.Data.Volumes = "v1"
			if c.workload == "backup" {
				l.Data.Volumes, l.Backup = "v1+v2", filewise.Spread{Files: c.files, Volumes: "v3"}
			}
			db := backedUp(t, ctx, target, l, c.workload)
			files, err := db.Backup.Backup(ctx)
			must(t, err)
			if len(files) < c.least {
				t.Errorf("backup files: %+v", files)
			}
			for _, f := range files {
				if f.Role != filewise.RoleBackup || f.Bytes < 1 || f.Volume == "v1" || c.workload == "backup" && f.Volume != "v3" {
					t.Errorf("%+v", f)
				}
			}
			must(t, db.Backup.Restore(ctx))
			must(t, db.Backup.Verify(ctx))
			must(t, db.Build.(*build).link.Exec(ctx, "DELETE FROM frag3 WHERE id = 77"))
			if err := db.Backup.Verify(ctx); !errors.Is(err, filewise.ErrCheck) {
				t.Errorf("a row is gone since: %v", err)
			}
			must(t, db.Backup.Discard(ctx))
			must(t, db.Backup.Discard(ctx))
		})
	}
}

// A backup that was damaged is not restored, or its verification fails.
func TestDamagedBackup(t *testing.T) {
	t.Parallel()
	need(t)
	ctx := deadline(t)
	l := partitions(1, 4<<20)
	l.Backup.Files = 2
	db := backedUp(t, ctx, onScratch(t, 1), l, "backup")
	for _, damage := range []func(b []byte) []byte{
		func(b []byte) []byte { return b[:len(b)/2] },
		func(b []byte) []byte {
			b[len(b)/2] ^= 0x55
			return b
		},
	} {
		files, err := db.Backup.Backup(ctx)
		must(t, err)
		big := slices.MaxFunc(files, func(a, b filewise.File) int { return int(a.Bytes - b.Bytes) })
		text, err := os.ReadFile(big.Path)
		must(t, err)
		must(t, os.WriteFile(big.Path, damage(text), 0o600))
		if err = db.Backup.Restore(ctx); err == nil {
			err = db.Backup.Verify(ctx)
		}
		if err == nil {
			t.Error("a damaged backup was restored and verified")
		}
		t.Log(err)
		must(t, db.Backup.Discard(ctx))
	}
}

// What backups cannot be is refused with the reason.
func TestBackupRefused(t *testing.T) {
	w, err := workload.NewBackup(workload.Params{Rows: 1500}, 7)
	must(t, err)
	local := filewise.Target{Engine: "postgres", Mode: filewise.Managed, Volumes: []filewise.Volume{{Name: "v1", Dir: t.TempDir()}}}
	external := filewise.Target{Engine: "postgres", Mode: filewise.External, Address: &filewise.Address{Host: "h", User: "u"},
		Volumes: []filewise.Volume{{Name: "default"}}}
	for name, c := range map[string]struct {
		target filewise.Target
		change func(*filewise.Layout)
		says   string
	}{
		"external":    {external, func(*filewise.Layout) {}, "REPLICATION"},
		"discard":     {local, func(l *filewise.Layout) { l.Discard = true }, "thrown away"},
		"too many":    {local, func(l *filewise.Layout) { l.Backup.Files = 65 }, "65 processes"},
		"one stream":  {local, func(l *filewise.Layout) { l.Backup.Files, l.BackupOptions = 2, "tool=pg_basebackup" }, "one stream"},
		"unknown":     {local, func(l *filewise.Layout) { l.BackupOptions = "mode=fast" }, "--backup-option mode"},
		"added later": {local, func(l *filewise.Layout) { l.AddedLater = filewise.LaterRebuilt }, "added later"},
	} {
		l := partitions(2, 4<<20)
		c.change(&l)
		_, err := Engine{}.Statements(c.target, l, w.Program())
		if !errors.Is(err, filewise.ErrUnsupported) || !strings.Contains(err.Error(), c.says) || filewise.RemedyOf(err) == "" {
			t.Errorf("%s: %v; %s", name, err, filewise.RemedyOf(err))
		}
	}
}
