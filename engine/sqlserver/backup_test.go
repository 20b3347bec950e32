package sqlserver

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	mssql "github.com/microsoft/go-mssqldb"

	"filewise"
	"filewise/internal/marker"
	"filewise/lab/workload"
)

// backup makes a backup on a separate connection.
func (s *externalServer) backup(ctx context.Context, database string, t transfer) error {
	l, err := s.openLong(ctx, database)
	if err != nil {
		return err
	}
	return errors.Join(l.backup(ctx, database, t), l.close())
}

// TestBackup: all messages are read, however many there are, and the user's own database
// can be backed up.
func TestBackup(t *testing.T) {
	var told []int
	lab := newLab(t, func(m *model) { m.percent = func(percent int) { told = append(told, percent) } })
	lab.add("user's ]db", nil)
	err := lab.open().backup(t.Context(), "user's ]db",
		transfer{stripes: []string{`E:\b\1.bak`, `F:\b\2.bak`}, compression: "on", bufferCount: 50, maxTransferSize: 4 * mib})
	ok(t, err)
	if !slices.IsSorted(told) || len(told) != 20 || told[19] != 100 {
		t.Errorf("told %v", told)
	}
}

// TestFailedBackupShowsAllErrors: the last is the generic 3013.
func TestFailedBackupShowsAllErrors(t *testing.T) {
	lab := newLab(t, func(m *model) { m.backupsFailed = true })
	err := lab.open().backup(t.Context(), "master", transfer{stripes: []string{`E:\b\1.bak`}})
	for _, want := range []string{"not enough space", "nonrecoverable", "terminating abnormally", "(3202)", "(3013)"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
	var e mssql.Error
	if !errors.As(err, &e) || len(e.All) != 3 {
		t.Errorf("%+v", e)
	}
}

// TestCancelledBackup ends on the server, and the next one works.
func TestCancelledBackup(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	lab := newLab(t, func(m *model) {
		m.slow, m.percent = 20*time.Millisecond, func(percent int) {
			if percent >= 20 {
				cancel()
			}
		}
	})
	s := lab.open()
	err := s.backup(ctx, "master", transfer{stripes: []string{null}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	soon(t, "the cancelled connection's end", func() bool {
		for _, c := range lab.wire.Sessions() {
			if c.Login.Database == "master" && c.Login.Program == appName && len(lab.wire.Sessions()) > 1 {
				return false
			}
		}
		return true
	})
	ok(t, s.backup(t.Context(), "master", transfer{stripes: []string{null}}))
}

// restoreOn restores from a session in master.
func restoreOn(ctx context.Context, s *externalServer, from transfer, to func(string, bool) joiner) (name, text string, err error) {
	name = marker.NewName()
	text, err = marker.NewText(name, false)
	l, failed := s.openLong(ctx, "master")
	if err = errors.Join(err, failed); err != nil {
		return "", "", err
	}
	err = l.restore(ctx, from, name, text, to)
	return name, text, errors.Join(err, l.close())
}

func windowsDir(t *testing.T) func(string, bool) joiner {
	d, err := parseDir(`D:\restored`)
	ok(t, err)
	return func(string, bool) joiner { return d }
}

// TestRestore: to a new marked name, every file moved, results in between read.
func TestRestore(t *testing.T) {
	lab := newLab(t, nil)
	s := lab.open()
	name, text, err := restoreOn(t.Context(), s, transfer{stripes: []string{`E:\b\1.bak`, `E:\b\2.bak`}}, windowsDir(t))
	ok(t, err)
	d := lab.model.databases[name]
	if d == nil || d.state != "ONLINE" {
		t.Fatalf("%q is not there: %v", name, lab.names())
	}
	if _, err := marker.Parse(name, text); err != nil || d.properties["filewise"] != text {
		t.Error(err)
	}
	var restore string
	for _, text := range lab.wire.Received() {
		if strings.Contains(text, "RESTORE DATABASE") {
			restore = text
		}
	}
	for _, want := range []string{`MOVE N'users' TO N'D:\restored\` + name + `_restored_01.ndf'`, `MOVE N'users_log' TO`, `MOVE N'fs' TO`} {
		if !strings.Contains(restore, want) {
			t.Errorf("%s is not in\n%s", want, restore)
		}
	}
	ok(t, s.drop(t.Context(), name, d.properties["filewise"]))
}

// TestFailedRestore leaves nothing, also when it is cancelled half-way.
func TestFailedRestore(t *testing.T) {
	lab := newLab(t, func(m *model) { m.backupsFailed = true })
	if _, _, err := restoreOn(t.Context(), lab.open(), transfer{stripes: []string{null}}, windowsDir(t)); err == nil ||
		!strings.Contains(err.Error(), "3202") {
		t.Errorf("%v", err)
	}
	if left := lab.names(); len(left) > 0 {
		t.Errorf("left is %v", left)
	}
	ctx, cancel := context.WithCancel(t.Context())
	lab = newLab(t, func(m *model) { m.slow, m.percent = 20*time.Millisecond, func(int) { cancel() } })
	s := lab.open()
	if _, _, err := restoreOn(ctx, s, transfer{stripes: []string{null}}, windowsDir(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if left := lab.names(); len(left) > 0 {
		t.Errorf("left is %v", left)
	}
}

func TestTransferLimits(t *testing.T) {
	lab := newLab(t, nil)
	s := lab.open()
	for name, bad := range map[string]transfer{
		"no file": {}, "relative": {stripes: []string{"a.bak"}}, "Linux": {stripes: []string{"/a.bak"}},
		"twice":    {stripes: []string{`E:\a`, `e:\A`}},
		"65 files": {stripes: make([]string, 65)}, "compression": {stripes: []string{null}, compression: "zip"},
		"odd transfer":   {stripes: []string{null}, maxTransferSize: 65537},
		"large transfer": {stripes: []string{null}, maxTransferSize: 8 * mib}, "block": {stripes: []string{null}, blockSize: 1000},
		"count":  {stripes: []string{null}, bufferCount: -1},
		"memory": {stripes: []string{null}, bufferCount: 300, maxTransferSize: 4 * mib},
	} {
		if err := s.backup(t.Context(), "master", bad); filewise.CodeOf(err) != filewise.CodeUsage || filewise.RemedyOf(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	express := newLab(t, func(m *model) { m.engine, m.edition = editionExpress, "Express Edition" }).open()
	if err := express.backup(t.Context(), "master", transfer{stripes: []string{null}, compression: "on"}); !errors.Is(err,
		filewise.ErrUnsupported) {
		t.Errorf("compression on Express: %v", err)
	}
}

// backupLab returns a server on this host, as far as its addresses say, that writes files where
// it is instructed to; and a build to back up in two files.
func backupLab(t *testing.T, writes bool, settings map[string]string) (*lab, *backuper) {
	t.Helper()
	dir := t.TempDir()
	lab := newLab(t, func(m *model) { m.client, m.data, m.log = "<local machine>", dir, dir })
	lab.target.Settings = settings
	paths := regexp.MustCompile(`(?:FILENAME|DISK) = N'([^']*)'`)
	lab.model.fault = func(_ context.Context, q Request, r *Reply) (bool, error) {
		if writes && strings.Contains(q.SQL, "CREATE DATABASE") || strings.Contains(q.SQL, "BACKUP DATABASE") {
			for _, m := range paths.FindAllStringSubmatch(q.SQL, -1) {
				if err := os.WriteFile(strings.Replace(m[1], dir, lab.model.data, 1), nil, 0o600); err != nil {
					return false, err
				}
			}
		}
		if strings.Contains(q.SQL, "ONLY FROM") && strings.Count(q.SQL, "DISK =") != 1 {
			r.Error(3231, 16, "one device, please")
			return true, nil
		}
		return false, nil
	}
	w, err := workload.NewBackup(workload.Params{Rows: 1000}, 1)
	ok(t, err)
	l := layout(2)
	l.Backup = filewise.Spread{Files: 2, Placement: filewise.PlaceOne}
	return lab, lab.build(lab.open(), l, w).Backup.(*backuper)
}

// TestBackuper: files of a server on this host are removed; the time is the statement's,
// whose session is in the build's database until its waits are read, and a question
// about a backup names one of its files.
func TestBackuper(t *testing.T) {
	lab, k := backupLab(t, true, nil)
	lab.model.percent = func(int) { time.Sleep(2 * time.Millisecond) }
	sessions := func() (n int) {
		for _, c := range lab.wire.Sessions() {
			if c.Login.Database == k.of.database {
				n++
			}
		}
		return n
	}
	before := sessions()
	start := time.Now()
	files, err := k.Backup(t.Context())
	whole := time.Since(start)
	ok(t, err)
	if took := k.Took(); took < 40*time.Millisecond || took >= whole || sessions() != before+1 {
		t.Errorf("took %v of %v, with %d sessions more", took, whole, sessions()-before)
	}
	ok(t, k.Restore(t.Context()), k.Discard(t.Context()))
	for _, f := range files {
		if _, err := os.Stat(f.Path); !errors.Is(err, fs.ErrNotExist) || f.Bytes == 0 {
			t.Errorf("%+v: %v", f, err)
		}
	}
	soon(t, "the session's end", func() bool { return sessions() == before })
}

// TestForwardedPort: the server looks local and its files are not here. Nothing is written
// that could not be removed, unless the user allows it to stay.
func TestForwardedPort(t *testing.T) {
	lab, k := backupLab(t, false, nil)
	if _, err := k.Backup(t.Context()); !errors.Is(err, filewise.ErrUnsupported) || !strings.Contains(filewise.RemedyOf(err), "keep-backups") {
		t.Errorf("%v", err)
	}
	for _, text := range lab.wire.Received() {
		if strings.Contains(text, "BACKUP DATABASE") {
			t.Errorf("it was written: %s", text)
		}
	}
	lab, k = backupLab(t, true, nil) // its database is here, its backups are not
	lab.model.mu.Lock()
	lab.model.data = t.TempDir()
	lab.model.mu.Unlock()
	if _, err := k.Backup(t.Context()); err == nil || !strings.Contains(err.Error(), "which stays") {
		t.Errorf("%v", err)
	}
	_, k = backupLab(t, false, map[string]string{"keep-backups": "on"})
	_, err := k.Backup(t.Context())
	ok(t, err, k.Discard(t.Context()))
}
