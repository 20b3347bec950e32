package sqlite

import (
	"slices"
	"testing"

	"filewise"
	"filewise/lab/workload"
)

// Of rows that are found without an index, N files hold one Nth each, and the report
// contains it.
func TestPruned(t *testing.T) {
	for _, c := range []struct {
		files int
		index string
		want  bool
	}{{4, workload.IndexNone, true}, {4, workload.IndexKey, false}, {1, workload.IndexNone, false}} {
		w, err := workload.NewDML(workload.Params{Connections: 2, Rows: 100, Mode: workload.ModeSingle, Connect: workload.ConnectPooled,
			Index: c.index, Repeat: 1}, 1)
		must(t, err)
		script, err := New().Statements(target(t.TempDir()), layout(c.files, 4<<20), w.Program())
		must(t, err)
		if got := slices.ContainsFunc(script.Warnings, func(w filewise.Warning) bool { return w.Code == "files-are-pruned" }); got != c.want {
			t.Errorf("%+v: warned %v", c, got)
		}
	}
}
