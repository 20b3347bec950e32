package report_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"filewise"
	"filewise/lab/experiment"
	"filewise/lab/verdict"
	"filewise/lab/workload"
	"filewise/results/report"
)

// sampleWorld describes the sample's machine.
type sampleWorld struct {
	Rate    float64            // rows per second of one file
	Effects map[int]float64    // factor on it by number of files
	Blocks  int                // blocks at most
	Drift   float64            // change of the machine per block, log scale
	Noise   float64            // of a trial, log scale
	Outlier map[[2]int]float64 // factor of one trial, by block and files
	Fail    [2]int             // block and files of the trial that fails once
}

// gentle is a machine on which files matter by some percent.
func gentle() sampleWorld {
	return sampleWorld{
		Rate: 18900, Effects: map[int]float64{1: 1, 2: 0.985, 4: 1.061, 8: 1.064, 16: 1.018}, Blocks: 12, Drift: -0.008, Noise: 0.012,
		Outlier: map[[2]int]float64{{3, 4}: 0.8}, Fail: [2]int{3, 8},
	}
}

// sampleStart is when the sample's run started.
var sampleStart = time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC)

// samplePlan is the sample's plan.
func samplePlan() experiment.Plan {
	p := experiment.Plan{
		Scenario: "inserts", Params: workload.Params{Connections: 16, RowBytes: 200, CommitEvery: 1, Table: workload.TableShared,
			Key: workload.KeySequential},
		Target: filewise.Target{
			Engine: "sqlite", Mode: filewise.Embedded, Durability: filewise.DurabilityFull,
			Volumes: []filewise.Volume{{Name: "scratch", Dir: "/srv/fast/filewise"}},
		},
		Seed: 4241, Baseline: "1 file", Window: 2 * time.Second, WarmUp: -1, PilotWindow: time.Second, SliceLength: 50 * time.Millisecond,
		Margin: 2, Confidence: 0.95, Goal: verdict.GoalRecommend, MaxBlocks: 20, Budget: 110 * time.Second, Attempts: 3,
		Command: []string{"filewise", "run", "inserts", "--volume", "scratch=/srv/fast/filewise", "--window", "2s", "--seed", "4241"},
	}
	for _, n := range []int{1, 2, 4, 8, 16} {
		p.Layouts = append(p.Layouts, filewise.Layout{
			Name: filewise.FilesName(n), Kind: filewise.KindShards, Rank: n,
			Data: filewise.Spread{Files: n, Bytes: 64 << 20, Allocation: filewise.Preallocated, Placement: filewise.PlaceOne},
		})
	}
	return p
}

// run measures the plan in the world: every trial comes from Plan.Next. It ends when the plan does, or after the
// world's blocks.
func (w sampleWorld) run(p experiment.Plan) []filewise.Trial {
	var trials []filewise.Trial
	at := sampleStart
	for {
		cell, decision := p.Next(trials)
		if decision.Ending != experiment.GoesOn || cell.Block > w.Blocks {
			return trials
		}
		t := w.trial(p, cell, at, uint64(len(trials)))
		at = at.Add(t.Elapsed)
		trials = append(trials, t)
	}
}

// data is a run with its judgement, as the store would give it.
func (w sampleWorld) data() (report.Data, error) {
	p := samplePlan()
	trials := w.run(p)
	j, err := p.Judge(trials)
	if err != nil {
		return report.Data{}, fmt.Errorf("judge the sample: %w", err)
	}
	return sampleData(p, trials, j), nil
}

// sampleData puts a run together from a plan, its trials and their judgement.
func sampleData(p experiment.Plan, trials []filewise.Trial, j experiment.Judgement) report.Data {
	sc, err := workload.Lookup(p.Scenario)
	if err != nil {
		sc = workload.Scenario{Name: p.Scenario}
	}
	d := report.Data{
		RunID: 3, Version: "0.1.0", Started: sampleStart, State: "done", Plan: p, Scenario: sc, Trials: trials, Judgement: j,
		Machine: []filewise.Fact{
			{Name: "CPU", Value: "AMD EPYC 7B13, 2 cores"}, {Name: "memory", Value: "24 GiB"}, {Name: "kernel", Value: "Linux 6.1.0-18-amd64"},
			{Name: "virtualisation", Value: "kvm"}, {Name: "volume scratch",
				Value: "/srv/fast/filewise: ext4 on nvme0n1p2 (rw, noatime), 212 GiB free"},
		},
		Server: []filewise.Fact{
			{Name: "SQLite", Value: "3.50.4"}, {Name: "journal_mode", Value: "wal"}, {Name: "synchronous", Value: "FULL"}, {Name: "page_size",
				Value: "4096"},
			{Name: "wal_autocheckpoint", Value: "1000 pages"}, {Name: "busy_timeout", Value: "60 s"},
		},
	}
	if n := len(trials); n > 0 {
		d.Ended = trials[n-1].Started.Add(trials[n-1].Elapsed)
	}
	return d
}

func (w sampleWorld) trial(p experiment.Plan, c filewise.Cell, at time.Time, n uint64) filewise.Trial {
	r := rand.New(rand.NewPCG(p.Seed, 1000+n))
	l := layoutNamed(p, c.Layout)
	t := filewise.Trial{Cell: c, State: filewise.Done, Started: at, Files: sampleFiles(l, 0), Final: sampleFiles(l, 1<<20)}
	if !c.Pilot && w.Fail == [2]int{c.Block, l.Data.Files} && c.Attempt == 1 {
		t.State, t.Reason = filewise.Failed, "insert into shard-3.db: disk I/O error (SQLITE_IOERR_FSYNC)"
		t.Stages = []filewise.Stage{{Name: filewise.StageBuild, Took: 80 * time.Millisecond},
			{Name: filewise.StageWarmUp, Took: 210 * time.Millisecond}}
		t.Elapsed, t.Final = 290*time.Millisecond, nil
		return t
	}
	window, warm := p.Window, 400*time.Millisecond
	if c.Pilot {
		window, warm = p.PilotWindow, 0
	}
	rate := w.Rate * w.Effects[l.Data.Files] * math.Exp(w.Drift*float64(c.Block)+w.Noise*r.NormFloat64())
	if f, ok := w.Outlier[[2]int{c.Block, l.Data.Files}]; ok && !c.Pilot {
		rate *= f
	}
	m := sampleMeasure(r, p, rate, warm, window)
	t.Measures = []filewise.Measure{m}
	ms := func(base, jitter float64) time.Duration {
		return time.Duration((base + jitter*r.Float64()) * float64(time.Millisecond)).Round(time.Microsecond)
	}
	t.Stages = []filewise.Stage{
		{Name: filewise.StageBuild, Took: ms(60+4*float64(l.Data.Files), 20)}, {Name: filewise.StageObserve, Took: ms(2, 1)},
		{Name: filewise.StageSettle, Took: ms(90, 40)}, {Name: filewise.StageWarmUp, Took: warm}, {Name: filewise.StageMeasure, Took: window},
		{Name: filewise.StageDrain, Took: m.Tail + m.Sync}, {Name: filewise.StageCheck, Took: ms(120, 60)}, {Name: filewise.StageDrop,
			Took: ms(15, 8)},
	}
	for _, s := range t.Stages {
		t.Elapsed += s.Took
	}
	return t
}

// sampleMeasure fills slices that start slow, vary, and have a dip by a checkpoint.
func sampleMeasure(r *rand.Rand, p experiment.Plan, rate float64, warm, window time.Duration) filewise.Measure {
	m := filewise.Measure{
		Operation: "inserts", Unit: "rows", Window: [2]time.Duration{warm, warm + window}, SliceLength: p.SliceLength,
		Tail: time.Duration(2+8*r.Float64()) * time.Millisecond, Sync: time.Duration(20+60*r.Float64()) * time.Millisecond,
	}
	hist := hdrhistogram.New(1, 60_000_000, 3)
	n := int((warm+window+m.Tail)/p.SliceLength) + 1
	dip := r.IntN(12)
	for i := range n {
		at := time.Duration(i) * p.SliceLength
		x := rate * p.SliceLength.Seconds() * (1 + 0.05*r.NormFloat64()) * (1 - 0.5*math.Exp(-at.Seconds()/0.12))
		if i%12 == dip {
			x *= 0.82
		}
		if at >= m.Window[1] {
			x *= 0.3
		}
		m.Slices = append(m.Slices, int64(x))
		_ = hist.RecordValues(int64(1e6*float64(p.Params.Connections)/rate*(0.6+0.5*r.ExpFloat64())), int64(x))
	}
	m.Work = math.Round(rate * window.Seconds())
	m.Bytes = m.Work * float64(p.Params.RowBytes)
	m.Hist, _ = hist.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	m.Deltas = []filewise.Delta{
		{Probe: "cpu", Name: "busy", Unit: "%", Value: math.Round(60 + 15*r.Float64())},
		{Probe: "process", Name: "written", Unit: "bytes", Value: math.Round(m.Bytes * 2.7)},
		{Probe: "sqlite", Name: "waiting for the write lock", Unit: "s", Value: math.Round(1e4*(12+r.Float64())) / 1e4},
	}
	return m
}

func layoutNamed(p experiment.Plan, name string) filewise.Layout {
	for _, l := range p.Layouts {
		if l.Name == name {
			return l
		}
	}
	return filewise.Layout{}
}

// sampleFiles are a layout's files as observed, each grown by some bytes.
func sampleFiles(l filewise.Layout, grown int64) []filewise.File {
	var out []filewise.File
	for i, n := range l.Data.Sizes(4096) {
		n += grown
		out = append(out, filewise.File{
			Role: filewise.RoleData, Volume: "scratch", Path: fmt.Sprintf("/srv/fast/filewise/fw-3/shard-%d.db", i+1),
			Bytes: n, Allocated: &n, EngineBytes: &n,
		})
	}
	if bytes := int64(4 << 20); grown > 0 {
		out = append(out, filewise.File{Role: filewise.RoleLog, Volume: "scratch", Path: "/srv/fast/filewise/fw-3/shard-1.db-wal", Bytes: bytes})
	}
	return out
}
