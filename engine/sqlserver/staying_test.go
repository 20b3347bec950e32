package sqlserver

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"filewise"
	"filewise/lab/workload"
)

// TestBackupsAreExamined: what Build would refuse of backups is reported before anything is built, also if Windows shows
// a directory and not the files in it; and there is space for each layout's set that stays.
// First contact: SQL Server 5, 6; fault 1.
func TestBackupsAreExamined(t *testing.T) {
	w, err := workload.NewBackup(workload.Params{Rows: 1000}, 1)
	ok(t, err)
	dir := t.TempDir()
	there := filepath.Join(dir, "tempdb.mdf")
	ok(t, os.WriteFile(there, nil, 0o600))
	for name, c := range map[string]struct {
		client, file, keep string
		discard            bool
		want               filewise.Status // "": nothing is reported
		says               string
	}{
		"on the host":      {client: "<local machine>", file: there, want: filewise.StatusOK},
		"elsewhere":        {client: "10.0.0.7", file: there, want: filewise.StatusFailed, says: "does not see"},
		"a forwarded port": {client: "<local machine>", file: dir + "/gone.mdf", want: filewise.StatusFailed, says: "elsewhere"},
		"denied":           {client: "<local machine>", file: there + "/x", want: filewise.StatusFailed, says: "cannot be looked at"},
		"elsewhere, kept":  {client: "10.0.0.7", file: there, keep: "on", want: filewise.StatusWarning, says: "one set for each layout"},
		"to NUL":           {client: "10.0.0.7", file: there, discard: true},
	} {
		lab := newLab(t, func(m *model) {
			m.client, m.data, m.log, m.mount, m.temporary[0].path = c.client, dir, dir, "/", c.file
		})
		if c.keep != "" {
			lab.target.Settings = map[string]string{"keep-backups": c.keep}
		}
		one, four := layout(1), layout(2)
		one.Discard, four.Discard, four.Backup.Files = c.discard, c.discard, 4
		space := map[string]int64{"default": 1 << 20}
		found := lab.open().Examine(t.Context(), filewise.Demand{Layouts: []filewise.Layout{one, four}, Program: w.Program(), Space: space})
		i := slices.IndexFunc(found, func(f filewise.Finding) bool { return f.Check == "backup files" })
		switch {
		case i < 0 || c.want == "":
			if i >= 0 || c.want != "" {
				t.Errorf("%s: %+v", name, found)
			}
		case found[i].Status != c.want || !strings.Contains(found[i].Detail, c.says),
			c.want == filewise.StatusFailed && !strings.Contains(found[i].Remedy, "run as administrator"):
			t.Errorf("%s: %+v", name, found[i])
		}
		if more := space["default"] - 1<<20; (more == four.Data.Bytes) != (c.keep != "") {
			t.Errorf("%s: room for %d bytes more", name, more)
		}
	}
}

// TestBackupsThatStay: a layout's backups have one name, whatever turns and builds there are, and living builds do not
// share it.
// First contact: SQL Server 5.
func TestBackupsThatStay(t *testing.T) {
	w, err := workload.NewBackup(workload.Params{Rows: 1000}, 1)
	ok(t, err)
	lab := newLab(t, nil)
	lab.target.Settings = map[string]string{"keep-backups": "on"}
	s := lab.open()
	backups := func(db *filewise.Database) (paths []string) {
		for range 2 {
			files, err := db.Backup.Backup(t.Context())
			ok(t, err, db.Backup.Restore(t.Context()))
			paths = append(paths, pathsOf(files)...)
		}
		return paths
	}
	first, beside := lab.build(s, layout(1), w), lab.build(s, layout(1), w)
	a := backups(first)
	b := backups(beside)
	ok(t, first.Drop(t.Context()))
	again := backups(lab.build(s, layout(1), w))
	other := backups(lab.build(s, layout(2), w))
	if a[0] != a[1] || a[0] == b[0] || again[0] != a[0] || again[1] != a[0] || other[0] == a[0] || other[0] == b[0] {
		t.Errorf("%q, %q, %q, %q", a, b, again, other)
	}
	var how []string
	for _, text := range lab.wire.Received() {
		if m := regexp.MustCompile(`BACKUP DATABASE(?s:.*)COPY_ONLY, (\w+)`).FindStringSubmatch(text); m != nil {
			how = append(how, m[1])
		}
	}
	if got := strings.Join(how, " "); got != "NOFORMAT FORMAT NOFORMAT FORMAT FORMAT FORMAT NOFORMAT FORMAT" {
		t.Errorf("%s", got)
	}
}

// TestUpdatesBesideABackup: connections update rows of a table in the build while it is backed up.
func TestUpdatesBesideABackup(t *testing.T) {
	w, err := workload.NewBackup(workload.Params{Rows: 1000, ConcurrentLoad: 2}, 1)
	ok(t, err)
	lab := newLab(t, nil)
	lab.target.Settings = map[string]string{"keep-backups": "on"}
	var updates atomic.Int32
	lab.model.fault = func(_ context.Context, q Request, r *Reply) (bool, error) {
		beside := strings.Contains(q.SQL, "UPDATE dbo.frag4 SET val5")
		if beside {
			updates.Add(1)
			r.Affected(1)
		}
		return beside, nil
	}
	db := lab.build(lab.open(), layout(1), w)
	s, err := db.Connect(t.Context(), w.Program().PhaseOf(workload.OperationForeground), 1)
	ok(t, err)
	done, err := s.Do(t.Context(), 0, 3)
	ok(t, err, s.Close())
	if done != 3 || updates.Load() != 3 {
		t.Errorf("%d of 3 updates, %d arrived", done, updates.Load())
	}
}
