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

// TestBackup: all messages are read, however many there are, and the user's own database
// may be backed up.
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
	err := lab.open().backup(t.Context(), "x", transfer{stripes: []string{`E:\b\1.bak`}})
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
	err := s.backup(ctx, "x", transfer{stripes: []string{null}})
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
	ok(t, s.backup(t.Context(), "x", transfer{stripes: []string{null}}))
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
	name, text, err := s.restore(t.Context(), transfer{stripes: []string{`E:\b\1.bak`}}, windowsDir(t))
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
	if _, _, err := lab.open().restore(t.Context(), transfer{stripes: []string{null}}, windowsDir(t)); err == nil ||
		!strings.Contains(err.Error(), "3202") {
		t.Errorf("%v", err)
	}
	if left := lab.names(); len(left) > 0 {
		t.Errorf("left is %v", left)
	}
	ctx, cancel := context.WithCancel(t.Context())
	lab = newLab(t, func(m *model) { m.slow, m.percent = 20*time.Millisecond, func(int) { cancel() } })
	s := lab.open()
	if _, _, err := s.restore(ctx, transfer{stripes: []string{null}}, windowsDir(t)); !errors.Is(err, context.Canceled) {
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
		if err := s.backup(t.Context(), "x", bad); filewise.CodeOf(err) != filewise.CodeUsage || filewise.RemedyOf(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	express := newLab(t, func(m *model) { m.engine, m.edition = editionExpress, "Express Edition" }).open()
	if err := express.backup(t.Context(), "x", transfer{stripes: []string{null}, compression: "on"}); !errors.Is(err,
		filewise.ErrUnsupported) {
		t.Errorf("compression on Express: %v", err)
	}
}
