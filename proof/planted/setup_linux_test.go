package planted

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/host/machine"
	"filewise/lab/cause"
	"filewise/lab/experiment"
	"filewise/lab/probe"
	"filewise/lab/verdict"
	"filewise/lab/workload"
)

// setup is an engine, what it does, and the storage it does it on.
type setup struct {
	engine     filewise.Engine
	storage    *storage
	volumes    []filewise.Volume
	durability filewise.Durability
	settings   map[string]string
	params     workload.Params
	varies     bool // the devices are not throttled in all trials
	// begin and end are called around the work of a trial, its warm-up included; what
	// is planted is there in between only, so that nothing else takes long.
	begin, end func(layout string)
}

// notify calls begin and end.
func (r setup) notify() func(experiment.Event) {
	working := false
	return func(e experiment.Event) {
		if r.begin == nil {
			return
		}
		if e.Kind != experiment.EventStage {
			return
		}
		work := e.Stage == filewise.StageWarmUp || e.Stage == filewise.StageMeasure
		switch {
		case work && !working:
			r.begin(e.Cell.Layout)
		case !work && working:
			r.end(e.Cell.Layout)
		}
		working = work
	}
}

// plan compares layouts by inserts: the fewest blocks that a verdict needs.
func (r setup) plan(layouts ...filewise.Layout) experiment.Plan {
	return experiment.Plan{
		Scenario: "inserts", Params: r.params, Seed: 7, Layouts: layouts, Baseline: layouts[0].Name,
		Target: filewise.Target{Engine: r.engine.Name(), Mode: r.mode(), Durability: r.durability, Volumes: r.volumes, Settings: r.settings},
		Window: 1500 * time.Millisecond, PilotWindow: 500 * time.Millisecond, WarmUp: 300 * time.Millisecond, SliceLength: 100 * time.Millisecond,
		Margin: 5, Confidence: 0.95, Goal: verdict.GoalVerdicts, MaxBlocks: verdict.FirstAnalysis, Attempts: 2,
	}
}

func (r setup) mode() filewise.Mode {
	if r.engine.Name() == "sqlite" {
		return filewise.Embedded
	}
	return filewise.Managed
}

// trials runs a plan as "filewise run" does, with the machine's probes and the
// planted limits of the devices; none of its trials may fail.
func (r setup) trials(t testing.TB, p experiment.Plan) []filewise.Trial {
	t.Helper()
	w, err := workload.NewInserts(p.Params, p.Seed)
	if err != nil {
		t.Fatal(err)
	}
	return measured(t, r.engine, &experiment.Runner{Plan: p, Workload: w, Probes: probe.System(p.Target.Volumes), Ceilings: r.ceilings(t),
		Notify: r.notify()})
}

// ceilings are the planted limits, as fio would find them.
func (r setup) ceilings(t testing.TB) []probe.Ceiling {
	t.Helper()
	var all []probe.Ceiling
	for _, d := range r.storage.Slow {
		if r.varies {
			continue
		}
		device, err := machine.DeviceOf(d.Dir)
		if err != nil {
			t.Fatal(err)
		}
		limit := func(x int64) float64 {
			if x == 0 {
				return math.Inf(1)
			}
			return float64(x)
		}
		all = append(all, probe.Ceiling{Volume: d.Name, Device: device.Name, ReadBytes: math.Inf(1), Reads: math.Inf(1),
			WriteBytes: limit(d.Bytes), Writes: limit(d.Requests)})
	}
	return all
}

// explained returns the cause in a plan's judgement.
func explained(t testing.TB, p experiment.Plan, trials []filewise.Trial) cause.Cause {
	t.Helper()
	j, err := p.Judge(trials)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%v", j.Sentences())
	for _, w := range j.Warnings {
		t.Logf("warning %s: %s", w.Code, w.Message)
	}
	for _, tr := range trials {
		t.Log(waitsOf(tr))
	}
	if j.First().Cause == nil {
		t.Fatal("no cause")
	}
	for _, s := range j.First().Cause.Sentences {
		t.Logf("cause: %s", s)
	}
	t.Logf("%+v", *j.First().Cause)
	return *j.First().Cause
}

// waitsOf lists a trial's waits, for a failed test's output.
func waitsOf(tr filewise.Trial) string {
	if tr.Cell.Pilot || len(tr.Measures) == 0 {
		return fmt.Sprintf("block %d, %s: a pilot", tr.Cell.Block, tr.Cell.Layout)
	}
	var b strings.Builder
	m := tr.Measures[0]
	fmt.Fprintf(&b, "block %d, %s: %.0f in %v", tr.Cell.Block, tr.Cell.Layout, m.Work, m.Window[1]-m.Window[0])
	for _, d := range m.Deltas {
		if d.Value != 0 && (d.Probe == filewise.ProbeWaits || d.Probe == filewise.ProbeBackground) {
			fmt.Fprintf(&b, "; %s %.2f %s", d.Name, d.Value, d.Unit)
		}
	}
	return b.String()
}

// mustGain fails the test unless the layout is at least twice as fast as the first,
// and the top cause is a wait of that class.
func mustGain(t testing.TB, c cause.Cause, p experiment.Plan, trials []filewise.Trial, layout string, classes ...filewise.WaitClass) {
	t.Helper()
	if ratio := throughput(trials, layout) / throughput(trials, p.Baseline); !(ratio >= 2) {
		t.Errorf("%s has %.2f times the throughput of %s; planted: at least 2", layout, ratio, p.Baseline)
	}
	if c.Layout != layout || len(c.Changes) == 0 {
		t.Fatalf("no cause of the gain of %s: %v", layout, c.Sentences)
	}
	if top := c.Changes[0]; top.Kind != cause.KindWait || !slices.Contains(classes, top.Class) || top.Fall <= 0 {
		t.Errorf("the top cause is %+v; planted: a wait of %v that falls", top, classes)
	}
}

// throughput is the median over a layout's trials in blocks.
func throughput(trials []filewise.Trial, layout string) float64 {
	var all []float64
	for _, tr := range trials {
		if tr.Cell.Layout == layout && !tr.Cell.Pilot {
			all = append(all, tr.Measures[0].Throughput())
		}
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// mustSay fails the test when the sentences have not the words, or have those that
// they must not have.
func mustSay(t testing.TB, c cause.Cause, must bool, words string) {
	t.Helper()
	if strings.Contains(strings.Join(c.Sentences, " "), words) != must {
		t.Errorf("%q: says %q: %v; want %v", c.Sentences, words, !must, must)
	}
}
