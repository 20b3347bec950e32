package planted

import (
	"context"
	"slices"
	"testing"
	"time"

	"filewise"
	"filewise/engine/sqlite"
	"filewise/lab/experiment"
	"filewise/lab/verdict"
	"filewise/lab/workload"
)

// The layouts: stripes of a backup lie on the throttled volumes, one each, the data
// on one that is not throttled.
var (
	oneFile    = layout("1 file", 1)
	sameByName = layout("one file", 1)
	twoFiles   = layout("2 files", 2)
)

func layout(name string, files int) filewise.Layout {
	return filewise.Layout{
		Name: name, Kind: filewise.KindShards, Rank: files,
		Data:   filewise.Spread{Files: files, Bytes: 8 << 20, Allocation: filewise.Growing, Placement: filewise.PlaceOne},
		Backup: filewise.Spread{Files: files, Placement: filewise.PlaceApart},
	}
}

// world is storage with planted speeds, and SQLite on it.
type world struct {
	storage  *storage
	params   workload.Params
	workload filewise.Workload
}

// rowsOfSecond are the rows of each of the four tables that make a backup which takes a second at the usual speed.
const rowsOfSecond = 1150

// newWorld plants two speeds, and a database whose backup into one file takes so
// many seconds on the first.
func newWorld(t testing.TB, first, second Speed, seconds float64) *world {
	t.Helper()
	w := &world{storage: newStorage(t, first, second), params: workload.Params{Rows: int64(seconds * rowsOfSecond)}}
	var err error
	if w.workload, err = workload.NewBackup(w.params, 7); err != nil {
		t.Fatal(err)
	}
	return w
}

// plan compares layouts by their backups. Each block has separate builds, so that no build's placement is taken for
// its layout's. Restores are made and verified in every trial, but are not judged: nothing is planted on their
// volumes.
func (w *world) plan(maxBlocks int, layouts ...filewise.Layout) experiment.Plan {
	return experiment.Plan{
		Scenario: "backup", Params: w.params, Seed: 7, Layouts: layouts, Baseline: layouts[0].Name,
		Target: filewise.Target{Engine: sqlite.Name, Mode: filewise.Embedded, Durability: filewise.DurabilityNormal,
			Volumes: []filewise.Volume{w.storage.Data, w.storage.Slow[0].Volume, w.storage.Slow[1].Volume}},
		Phases: []string{workload.OperationBackup}, Builds: maxBlocks,
		Margin: 2, Confidence: 0.95, Goal: verdict.GoalRecommend, MaxBlocks: maxBlocks, Attempts: 2,
	}
}

// run measures and judges a plan as "filewise run" does.
func (w *world) run(t testing.TB, p experiment.Plan) (experiment.Judgement, verdict.Analysis) {
	t.Helper()
	trials := w.trials(t, p)
	j, err := p.Judge(trials)
	if err != nil {
		t.Fatal(err)
	}
	analysis, ok := j.First().Result.Last()
	if !ok {
		t.Fatalf("no verdict: %+v", j.Sentences())
	}
	t.Logf("%d blocks: %v", analysis.Block, j.Sentences())
	for _, l := range p.Layouts {
		t.Logf("%s: %v", l.Name, took(trials, l.Name))
	}
	return j, analysis
}

// trials runs a plan to its end; none of its trials may fail.
func (w *world) trials(t testing.TB, p experiment.Plan) []filewise.Trial {
	t.Helper()
	return measured(t, sqlite.New(), &experiment.Runner{Plan: p, Workload: w.workload})
}

// measured opens the plan's target and runs the plan.
func measured(t testing.TB, engine filewise.Engine, runner *experiment.Runner) []filewise.Trial {
	t.Helper()
	server, err := engine.Open(t.Context(), runner.Plan.Target)
	if filewise.CodeOf(err) == filewise.CodePreflight {
		check(t, unable("%v; %s", err, filewise.RemedyOf(err)))
	}
	if err != nil {
		t.Fatal(err)
	}
	runner.Server, runner.Clock = server, filewise.RealClock{}
	runner.Record = func(context.Context, filewise.Trial) error { return nil }
	trials, d, err := runner.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	for _, tr := range trials {
		if tr.State != filewise.Done {
			t.Fatalf("%s in block %d: %s (%+v)", tr.Cell.Layout, tr.Cell.Block, tr.Reason, d)
		}
	}
	return trials
}

// took are the times of a layout's backups, pilot first.
func took(trials []filewise.Trial, layout string) []time.Duration {
	var all []time.Duration
	for _, tr := range trials {
		for _, m := range tr.Measures {
			if tr.Cell.Layout == layout && m.Operation == workload.OperationBackup {
				all = append(all, (m.Window[1] - m.Window[0]).Round(time.Millisecond))
			}
		}
	}
	return all
}

// stripes are the backup files of a layout, in bytes by volume.
func stripes(t testing.TB, trials []filewise.Trial, layout string) map[string]int64 {
	t.Helper()
	bytes := map[string]int64{}
	for _, tr := range trials {
		if tr.Cell.Layout != layout {
			continue
		}
		for _, f := range tr.Final {
			if f.Role == filewise.RoleBackup {
				bytes[f.Volume] += f.Bytes
			}
		}
		return bytes
	}
	t.Fatalf("%s has no trial", layout)
	return nil
}

func median(d []time.Duration) time.Duration {
	s := slices.Sorted(slices.Values(d))
	return s[len(s)/2]
}
