package cause

import (
	"math"
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/lab/probe"
)

// spentBy is a second of four connections with these seconds of waits, by class.
func spentBy(computed, busy float64, waits map[filewise.WaitClass]float64) filewise.Trial {
	m := filewise.Measure{Work: 1, Connections: 4, Window: [2]time.Duration{0, time.Second}, Deltas: []filewise.Delta{
		{Probe: filewise.ProbeServer, Name: "user", Unit: "s", Value: computed},
		{Probe: "cpu", Name: probe.BusyShare, Unit: "%", Value: busy},
	}}
	for class, s := range waits {
		m.Deltas = append(m.Deltas, filewise.Delta{Probe: filewise.ProbeWaits, Name: string(class), Unit: "s", Value: s, Class: class})
	}
	return filewise.Trial{Measures: []filewise.Measure{m}}
}

func TestWhere(t *testing.T) {
	for name, x := range map[string]struct {
		trial filewise.Trial
		want  map[string]float64
	}{
		"what stays of the time on an idle machine was not measured": {spentBy(0.2, 0, map[filewise.WaitClass]float64{filewise.WaitLog: 3}),
			map[string]float64{SpentLog: 0.75, SpentCPU: 0.05, SpentUnknown: 0.2}},
		"a processor that is half busy is waited for": {spentBy(0.2, 50, map[filewise.WaitClass]float64{filewise.WaitLog: 3}),
			map[string]float64{SpentLog: 0.75, SpentCPU: 0.1, SpentUnknown: 0.15}},
		"busy processors take all that no wait has": {spentBy(0.2, 99, map[filewise.WaitClass]float64{filewise.WaitLog: 1}),
			map[string]float64{SpentLog: 0.25, SpentCPU: 0.75}},
		"classes of data files are one": {spentBy(0, 0, map[filewise.WaitClass]float64{
			filewise.WaitDataRead: 1, filewise.WaitDataWrite: 0.5, filewise.WaitAllocation: 0.25, filewise.WaitCheckpoint: 0.25,
			filewise.WaitTemp: 2}),
			map[string]float64{SpentData: 0.5, SpentTemp: 0.5}},
		"more waits than time": {spentBy(0.5, 50, map[filewise.WaitClass]float64{filewise.WaitLog: 6, filewise.WaitLatch: 2}),
			map[string]float64{SpentLog: 0.75, SpentLocks: 0.25}},
		"what was not read takes no part": {
			spentBy(0.2, math.NaN(), map[filewise.WaitClass]float64{filewise.WaitLog: 3, filewise.WaitLock: math.NaN()}),
			map[string]float64{SpentLog: 0.75, SpentCPU: 0.05, SpentUnknown: 0.2}},
	} {
		r, ok := Where([]filewise.Trial{x.trial}, SpentData)
		sum := 0.0
		for _, s := range r.Shares {
			sum += s.Part
			if math.Abs(s.Part-x.want[s.On]) > 1e-9 {
				t.Errorf("%s: %s %v, want %v", name, s.On, s.Part, x.want[s.On])
			}
		}
		if !ok || math.Abs(sum-1) > 1e-9 || math.Abs(r.Files-x.want[SpentData]) > 1e-9 {
			t.Errorf("%s: %+v, in all %v", name, r, sum)
		}
	}
}

// Of connections that also rest, the time is their waits and computing.
func TestWhereOfPacedWork(t *testing.T) {
	trial := spentBy(1, 20, map[filewise.WaitClass]float64{filewise.WaitDataRead: 1})
	trial.Measures[0].Paced = true
	if r, ok := Where([]filewise.Trial{trial}, SpentData); !ok || r.Files != 0.5 {
		t.Errorf("%+v, %v; want half of it data files", r, ok)
	}
}

func TestWhereNothingWasRead(t *testing.T) {
	if r, ok := Where([]filewise.Trial{{Measures: []filewise.Measure{{Work: 1, Connections: 4,
		Window: [2]time.Duration{0, time.Second}}}}}); ok {
		t.Errorf("%+v of nothing", r)
	}
}

func TestRelevanceWords(t *testing.T) {
	for want, files := range map[string]float64{"data files only in part: ": 0.3, "tests data files only in part": 0.15,
		"says little about": 0.05} {
		r := Relevance{Shares: []Spent{{SpentLog, 1 - files}, {SpentData, files}, {SpentLocks, 0.001}}, Files: files}
		got := r.Words(SpentData, []string{"the data fit"}, "--more")
		if !strings.Contains(got, want) || strings.Contains(got, SpentLocks) ||
			!strings.HasSuffix(got, ": the data fit. Try --more.") {
			t.Errorf("%q; want %q", got, want)
		}
	}
	if got := (Relevance{Files: 0.3}).Words(SpentData, nil, ""); !strings.HasSuffix(got, "This run tests data files.") {
		t.Error(got)
	}
}

// If the kernel counts the wait for a processor, it is not guessed.
func TestWhereProcessorsAreWaitedFor(t *testing.T) {
	trial := spentBy(0.5, 99, map[filewise.WaitClass]float64{filewise.WaitLog: 1})
	trial.Measures[0].Deltas = append(trial.Measures[0].Deltas,
		filewise.Delta{Probe: filewise.ProbeServer, Name: filewise.ProcessorWait, Unit: "s", Value: 1})
	r, _ := Where([]filewise.Trial{trial})
	for _, s := range r.Shares {
		if want := map[string]float64{SpentUnknown: 0.375, SpentCPU: 0.375, SpentLog: 0.25}[s.On]; s.Part != want {
			t.Errorf("%s %v, want %v", s.On, s.Part, want)
		}
	}
}
