package sqlserver

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	mssql "github.com/microsoft/go-mssqldb"

	"filewise"
	"filewise/engine/internal/mark"
	"filewise/engine/sqlserver/internal/serverpath"
)

// TestBackup: progress is told as it comes, the whole is read, and the user's own
// database may be backed up.
func TestBackup(t *testing.T) {
	lab := newLab(t, nil)
	lab.add("user's ]db", nil)
	var told []int
	summary, err := lab.open().backup(t.Context(), "user's ]db", transfer{stripes: []string{`E:\b\1.bak`, `F:\b\2.bak`}, compression: "on", bufferCount: 50, maxTransferSize: 4 * mib},
		func(percent int) { told = append(told, percent) })
	ok(t, err)
	if !slices.IsSorted(told) || len(told) != 20 || told[19] != 100 || !strings.Contains(summary, "25.0 MB/sec") {
		t.Errorf("told %v, summary %q", told, summary)
	}
}

// TestFailedBackupShowsAllErrors: the last is the generic 3013.
func TestFailedBackupShowsAllErrors(t *testing.T) {
	lab := newLab(t, func(m *model) { m.backupsFailed = true })
	_, err := lab.open().backup(t.Context(), "x", transfer{stripes: []string{`E:\b\1.bak`}}, nil)
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
	lab := newLab(t, func(m *model) { m.slow = 20 * time.Millisecond })
	s := lab.open()
	ctx, cancel := context.WithCancel(t.Context())
	_, err := s.backup(ctx, "x", transfer{stripes: []string{null}}, func(percent int) {
		if percent >= 20 {
			cancel()
		}
	})
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
	_, err = s.backup(t.Context(), "x", transfer{stripes: []string{null}}, nil)
	ok(t, err)
}

func windowsDir(t *testing.T) func(string) joiner {
	d, err := serverpath.ParseDir(`D:\restored`)
	ok(t, err)
	return func(string) joiner { return d }
}

// TestRestore: to a new marked name, every file moved, results in between read.
func TestRestore(t *testing.T) {
	lab := newLab(t, nil)
	s := lab.open()
	name, text, err := s.restore(t.Context(), transfer{stripes: []string{`E:\b\1.bak`}}, windowsDir(t), nil)
	ok(t, err)
	d := lab.model.databases[name]
	if d == nil || d.state != "ONLINE" {
		t.Fatalf("%q is not there: %v", name, lab.names())
	}
	if _, err := mark.Parse(name, text); err != nil || d.properties["filewise"] != text {
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
	if _, _, err := lab.open().restore(t.Context(), transfer{stripes: []string{null}}, windowsDir(t), nil); err == nil || !strings.Contains(err.Error(), "3202") {
		t.Errorf("%v", err)
	}
	if left := lab.names(); len(left) > 0 {
		t.Errorf("left is %v", left)
	}
	lab = newLab(t, func(m *model) { m.slow = 20 * time.Millisecond })
	s := lab.open()
	ctx, cancel := context.WithCancel(t.Context())
	if _, _, err := s.restore(ctx, transfer{stripes: []string{null}}, windowsDir(t), func(int) { cancel() }); !errors.Is(err, context.Canceled) {
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
		"no file": {}, "relative": {stripes: []string{"a.bak"}}, "Linux": {stripes: []string{"/a.bak"}}, "twice": {stripes: []string{`E:\a`, `e:\A`}},
		"65 files": {stripes: make([]string, 65)}, "compression": {stripes: []string{null}, compression: "zip"}, "odd transfer": {stripes: []string{null}, maxTransferSize: 65537},
		"large transfer": {stripes: []string{null}, maxTransferSize: 8 * mib}, "block": {stripes: []string{null}, blockSize: 1000}, "count": {stripes: []string{null}, bufferCount: -1},
		"memory": {stripes: []string{null}, bufferCount: 300, maxTransferSize: 4 * mib},
	} {
		if _, err := s.backup(t.Context(), "x", bad, nil); filewise.CodeOf(err) != filewise.CodeUsage || filewise.RemedyOf(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	express := newLab(t, func(m *model) { m.engine, m.edition = editionExpress, "Express Edition" }).open()
	if _, err := express.backup(t.Context(), "x", transfer{stripes: []string{null}, compression: "on"}, nil); !errors.Is(err, filewise.ErrUnsupported) {
		t.Errorf("compression on Express: %v", err)
	}
}
