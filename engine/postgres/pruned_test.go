package postgres

import (
	"slices"
	"testing"

	"filewise"
	"filewise/engine/postgres/installed"
	"filewise/lab/workload"
)

// Of rows that are found without an index, N partitions hold one Nth each, and the
// report contains it.
func TestPruned(t *testing.T) {
	target := filewise.Target{Engine: "postgres", Mode: filewise.Managed, Volumes: []filewise.Volume{{Name: "a", Dir: "/a"}}}
	for _, c := range []struct {
		files int
		index string
		want  bool
	}{{4, workload.IndexNone, true}, {4, workload.IndexKey, false}, {1, workload.IndexNone, false}} {
		w, err := workload.NewDML(workload.Params{Connections: 2, Rows: 100, Mode: workload.ModeSingle, Connect: workload.ConnectPooled,
			Index: c.index, Repeat: 1}, 1)
		must(t, err)
		d, err := newDesign(target, partitions(c.files, 1<<20), w.Program(), installed.Oldest, noTablespace)
		must(t, err)
		if got := slices.ContainsFunc(d.warnings, func(w filewise.Warning) bool { return w.Code == "partitions-are-pruned" }); got != c.want {
			t.Errorf("%+v: warned %v", c, got)
		}
	}
}
