package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"filewise"
	"filewise/engine/fake"
	"filewise/lab/drive"
	"filewise/lab/experiment"
	"filewise/lab/probe"
	"filewise/lab/verdict"
	"filewise/lab/workload"
	"filewise/results/report"
	"filewise/results/store"
)

// finished is a run on the fake engine in which 4 files do three times as much as 1,
// and in which one trial failed with a reason that is hostile to browsers.
func finished(t *testing.T) report.Data {
	t.Helper()
	sc, err := workload.Lookup("inserts")
	must(t, err)
	p := experiment.Plan{
		Scenario: sc.Name, Params: sc.Params, Seed: 18446744073709551615,
		Target: filewise.Target{Engine: fake.Name, Mode: filewise.Embedded, Durability: filewise.DurabilityFull,
			Volumes: []filewise.Volume{{Name: "here", Dir: t.TempDir()}}},
		Window: 2 * time.Second, WarmUp: 500 * time.Millisecond, PilotWindow: time.Second, SliceLength: 10 * time.Millisecond,
		Margin: 2, Confidence: 0.95, Goal: verdict.GoalVerdicts, MaxBlocks: 5, Attempts: 3,
	}
	p.Params.Connections = 1
	for _, n := range []int{1, 2, 4} {
		p.Layouts = append(p.Layouts, filewise.Layout{Name: filewise.FilesName(n), Kind: filewise.KindShards, Rank: n,
			Data: filewise.Spread{Files: n, Bytes: 1 << 20, Allocation: filewise.Preallocated, Placement: filewise.PlaceOne}})
	}
	p.Baseline = p.Layouts[0].Name
	load, err := sc.New(p.Params, p.Seed)
	must(t, err)
	engine := fake.New(fake.Config{Seed: 3, Noise: 0.15,
		Throughput: func(l filewise.Layout) float64 { return map[int]float64{1: 1000, 2: 1020, 4: 3000}[l.Data.Files] },
		Faults: []fake.Fault{{Layout: "2 files", Build: 5, Stage: filewise.StageBuild, Times: 1,
			Err: fmt.Errorf("<img src=x onerror=pwned=1>")}}})
	server, err := engine.Open(t.Context(), p.Target)
	must(t, err)
	r := experiment.Runner{Plan: p, Workload: load, Server: server, Clock: engine.Clock(),
		Record: func(context.Context, filewise.Trial) error { return nil }}
	trials, _, err := r.Run(t.Context(), nil)
	must(t, err)
	for i := range trials {
		for k := range trials[i].Measures {
			m := &trials[i].Measures[k]
			m.Hist = slowTail(t, map[string]int64{"1 file": 1, "2 files": 2, "4 files": 4}[trials[i].Cell.Layout])
			m.Types = map[string]filewise.TypeMeasure{"payment": {Work: m.Work, Hist: m.Hist}}
			m.Deltas = append(m.Deltas, filewise.Delta{Probe: filewise.ProbeWritten, Name: filewise.WrittenLog, Unit: filewise.UnitPerByte,
				Value: 2},
				filewise.Delta{Probe: filewise.ProbeWritten, Name: filewise.WrittenData, Unit: filewise.UnitPerByte, Value: 1.5},
				filewise.Delta{Probe: filewise.ProbeCheckpoints, Name: filewise.CheckpointCycles, Unit: "cycles", Value: 0.25})
		}
	}
	return judgedAt(t, report.Data{RunID: 12, Version: "test", Started: fake.Epoch, State: string(store.Running), Plan: p, Scenario: sc,
		Trials: trials})
}

// slowTail are latencies of so many ms, and of every fiftieth operation ten times as long.
func slowTail(t *testing.T, ms int64) []byte {
	t.Helper()
	h := hdr.New(1, 1e9, 3)
	must(t, errors.Join(h.RecordValues(ms*1000, 196), h.RecordValues(ms*10_000, 4)))
	out, err := h.Encode(hdr.V2CompressedEncodingCookieBase)
	must(t, err)
	return out
}

// judgedAt judges what there is of a run.
func judgedAt(t *testing.T, d report.Data) report.Data {
	t.Helper()
	j, err := d.Plan.Judge(d.Trials)
	must(t, err)
	d.Judgement = j
	return d
}

// first is a run after so many of its trials.
func first(t *testing.T, d report.Data, n int) report.Data {
	d.Trials = slices.Clone(d.Trials[:n])
	return judgedAt(t, d)
}

// recorded is the event of a run's trial.
func recorded(t *testing.T, d report.Data, n int) experiment.Event {
	return experiment.Event{Kind: experiment.EventRecorded, Cell: d.Trials[n].Cell, Trial: &d.Trials[n], Judgement: first(t, d, n+1).Judgement}
}

// measuring is the event of a trial in the middle of its window, which goes on in
// real time until the test ends.
func measuring(t *testing.T, d report.Data, n int) experiment.Event {
	t.Helper()
	live := new(drive.Live)
	probes := probe.NewLive(probe.NewSet(&ticking{}, &dirty{}), 0)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = drive.Run(ctx, drive.Load{Sessions: []filewise.Session{slow{}}, Clock: filewise.RealClock{}, SliceLength: 10 * time.Millisecond,
			Live: live, Chunk: 20, Window: time.Hour, Edge: func(ctx context.Context, _ drive.Edge) { probes.Edge(ctx) }})
	}()
	t.Cleanup(func() { cancel(); <-ended })
	return experiment.Event{Kind: experiment.EventStage, Cell: d.Trials[n].Cell, Stage: filewise.StageMeasure, Live: live, Probes: probes,
		Operation: "inserts", Unit: "rows"}
}

// slow does a row a millisecond.
type slow struct{}

func (slow) Do(ctx context.Context, _, n int64) (int64, error) {
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(time.Duration(n) * time.Millisecond):
		return n, nil
	}
}

func (slow) Close() error { return nil }

// ticking has waits and files.
type ticking struct{ reads float64 }

func (*ticking) Name() string { return filewise.ProbeWaits }

func (p *ticking) Read(context.Context) ([]filewise.Counter, error) {
	p.reads++
	return []filewise.Counter{
		{Name: "WALWrite", Unit: "s", Value: 2 * p.reads, Class: filewise.WaitLog},
		{Name: "WALWrite", Unit: "waits", Value: 100 * p.reads, Class: filewise.WaitLog},
		{Name: "DataFileRead", Unit: "s", Value: p.reads, Class: filewise.WaitDataRead},
		{Name: "DataFileRead", Unit: "waits", Value: 300 * p.reads, Class: filewise.WaitDataRead},
		{Name: filewise.FileBytes, Unit: "B", Value: 8e6 * p.reads, File: "/srv/a/data-0001.db"},
		{Name: filewise.FileWrites, Unit: "requests", Value: 500 * p.reads, File: "/srv/a/data-0001.db"},
		{Name: "commits", Unit: "commits", Value: 1000 * p.reads},
	}, nil
}

// dirty has 5 MB of memory to be written, whenever it is looked at.
type dirty struct{ looks float64 }

func (*dirty) Name() string { return probe.ProbeMemory }

func (p *dirty) Read(context.Context) ([]filewise.Counter, error) {
	p.looks++
	return []filewise.Counter{{Name: "s looked at", Unit: "s looked at", Value: p.looks},
		{Name: probe.MemoryDirty, Unit: "B·s", Value: 5e6 * p.looks}}, nil
}

// shelf is an archive in memory.
type shelf struct {
	runs  []report.Data
	err   error
	fleet func(context.Context) (Fleet, error)
}

func (s shelf) Path() string { return "/srv/filewise.db" }

func (s shelf) Runs(_ context.Context, before int64) ([]store.RunInfo, error) {
	out := []store.RunInfo{}
	for _, d := range s.runs {
		if before != 0 && d.RunID >= before {
			continue
		}
		info := store.RunInfo{ID: d.RunID, Started: d.Started, State: store.State(d.State), Scenario: d.Plan.Scenario,
			Engine: d.Plan.Target.Engine, Trials: len(d.Trials), Verdict: report.Headline(d)}
		for _, l := range d.Plan.Layouts {
			info.Layouts = append(info.Layouts, l.Name)
		}
		out = append(out, info)
	}
	return out[max(0, len(out)-MostListed):], s.err
}

func (s shelf) Run(_ context.Context, id int64) (report.Data, error) {
	for _, d := range s.runs {
		if d.RunID == id {
			return d, nil
		}
	}
	return report.Data{}, filewise.Errorf(filewise.CodeNotFound, "filewise list shows them", "there is no run %d", id)
}

func (s shelf) Compare(_ context.Context, before, after string) (any, error) {
	if before == after {
		return nil, filewise.Errorf(filewise.CodeUsage, "name two runs", "run %s cannot be compared with itself", before)
	}
	return json.RawMessage(`{"before":` + before + `,"after":` + after +
		`,"families":[{"family":"inserts","layouts":[{"layout":"1 file","text":"+3.0 % (+1.0 … +5.0)"}]}],` +
		`"differences":[],"layouts_not_in_both":["8 files"]}`), nil
}

const testToken = "a token of a test"

// opened is a server of a shelf, on any port.
func opened(t *testing.T, s shelf, m *Monitor) *Server {
	t.Helper()
	server, err := Listen(Config{Address: "127.0.0.1:0", Token: testToken, Archive: s, Fleet: s.fleet, Version: "test"})
	must(t, err)
	t.Cleanup(server.Close)
	if m != nil {
		server.Show(m)
	}
	return server
}

// until polls for something that has to come.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
