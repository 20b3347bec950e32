package dialect

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filewise"
	"filewise/engine/internal/script"
	"filewise/lab/workload"
)

func TestPositional(t *testing.T) {
	text, order := positional("UPDATE t SET a = ?2, b = ? WHERE c = ?1 AND d = '?'")
	if want := "UPDATE t SET a = ?, b = ? WHERE c = ? AND d = '?'"; text != want {
		t.Errorf("%s, want %s", text, want)
	}
	if diff := cmp.Diff([]int{1, 0}, order); diff != "" {
		t.Error(diff)
	}
}

func programs(t *testing.T) map[string]filewise.Program {
	t.Helper()
	all := map[string]filewise.Program{}
	for _, index := range []string{workload.IndexNone, workload.IndexKey} {
		w, err := workload.NewDML(workload.Params{Connections: 4, Rows: 100, Mode: workload.ModeBoth, Connect: workload.ConnectPooled,
			Index: index}, 1)
		if err != nil {
			t.Fatal(err)
		}
		all["dml "+index] = w.Program()
	}
	for _, data := range []string{workload.DataOrdered, workload.DataGrown} {
		w, err := workload.NewScan(workload.Params{Rows: 40_000, Cache: workload.CacheWarm, Data: data, Repeat: 1}, 1)
		if err != nil {
			t.Fatal(err)
		}
		all["scan "+data] = w.Program()
	}
	w, err := workload.NewBackup(workload.Params{Rows: 40_000}, 1)
	if err != nil {
		t.Fatal(err)
	}
	all["backup"] = w.Program()
	if w, err = workload.NewDump(workload.Params{Rows: 40_000}, 1); err != nil {
		t.Fatal(err)
	}
	all["dump"] = w.Program()
	return all
}

// Every section renders, and describes what a trial does: as many measured statements
// as there are phases that have one.
func TestSteps(t *testing.T) {
	all := programs(t)
	w, err := workload.NewInserts(workload.Params{Connections: 4, RowBytes: 100, CommitEvery: 1, Table: workload.TableShared,
		Key: workload.KeySequential}, 1)
	if err != nil {
		t.Fatal(err)
	}
	all["inserts"] = w.Program()
	for name, p := range all {
		s, err := NewSchema("d`b", filewise.Layout{Kind: filewise.KindPartitions, Data: filewise.Spread{Files: 3}}, p)
		if err != nil {
			t.Fatal(err)
		}
		create, err := s.Create()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if text := strings.Join(create, ";"); strings.Contains(name, "dml") != strings.Contains(text, "CREATE PROCEDURE `d``b`.`fw_update`") ||
			(name == "dml key") != strings.Contains(text, "UNIQUE INDEX") {
			t.Errorf("%s creates %s", name, text)
		}
		steps, err := trialSteps(s)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		measured, loads := 0, false
		for _, step := range steps {
			if step.Stage == filewise.StageMeasure {
				measured++
			}
			loads = loads || strings.HasPrefix(step.Text, "LOAD DATA LOCAL INFILE")
		}
		want := len(p.Phases)
		if name == "backup" || name == "dump" {
			want = 0
		}
		if measured != want || loads != s.Program.Loads() {
			t.Errorf("%s: %d statements are measured, want %d; loads: %v", name, measured, want, loads)
		}
	}
}

func trialSteps(s Schema) (script.Steps, error) {
	w := s.Writer("server")
	s.WriteLoad(w, "server")
	s.WriteWork(w, "server")
	return w.Steps()
}

func TestPhasesRefuse(t *testing.T) {
	for name, p := range programs(t) {
		restoring := p
		restoring.Phases = append(slices.Clone(p.Phases), filewise.Phase{Operation: "restore", Act: filewise.ActRestore})
		for what, x := range map[string]struct {
			l filewise.Layout
			p filewise.Program
		}{
			"files added later":             {filewise.Layout{AddedLater: filewise.LaterRebuilt, Data: filewise.Spread{Files: 2}}, p},
			"discarded, and to be restored": {filewise.Layout{Discard: true, Data: filewise.Spread{Files: 2}}, restoring},
		} {
			if _, err := NewSchema("d", x.l, x.p); !errors.Is(err, filewise.ErrUnsupported) {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
		s, err := NewSchema("d", filewise.Layout{Kind: filewise.KindPerTable}, p)
		if err != nil {
			t.Fatal(err)
		}
		right := map[bool]int{true: 4, false: 1}[s.Program.Loads()]
		for files := range 6 {
			if err := s.CheckPerTable(files); (err == nil) != (files == right) || err != nil && !strings.Contains(err.Error(), fmt.Sprint(right)) {
				t.Errorf("%s in %d files of tables: %v", name, files, err)
			}
		}
	}
}
