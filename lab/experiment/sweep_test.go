package experiment_test

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"filewise"
	"filewise/lab/experiment"
	"filewise/lab/verdict"
	"filewise/lab/workload"
)

// histOf is a histogram of latencies in ms: n of each.
func histOf(t *testing.T, n int64, latencies ...int64) []byte {
	t.Helper()
	h := hdr.New(1, 1e9, 3)
	for _, l := range latencies {
		if err := h.RecordValues(l*1000, n); err != nil {
			t.Fatal(err)
		}
	}
	b, err := h.Encode(hdr.V2CompressedEncodingCookieBase)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// sweepPlan compares 1, 2 and 4 files over load levels.
func sweepPlan(users ...int) experiment.Plan {
	p := experiment.Plan{Params: workload.Params{Users: users}, Baseline: "1 file", Window: time.Second, Margin: 2, Confidence: 0.95,
		Goal: verdict.GoalRecommend, MaxBlocks: 12, Attempts: 1}
	for _, n := range []int{1, 2, 4} {
		p.Layouts = append(p.Layouts, filewise.Layout{Name: filewise.FilesName(n), Rank: n})
	}
	for _, n := range users {
		p.Phases = append(p.Phases, workload.UsersOperation(n))
	}
	return p
}

// trialsOf are pilots and blocks whose throughput is planted within half a percent, with latencies of each layout's
// own.
func trialsOf(t *testing.T, p experiment.Plan, blocks int, throughput func(layout, users int) float64,
	p99 func(layout int) int64) []filewise.Trial {
	t.Helper()
	var all []filewise.Trial
	for b := range blocks + 1 {
		for _, l := range p.Layouts {
			tr := filewise.Trial{Cell: filewise.Cell{Pilot: b == 0, Block: b, Layout: l.Name, Attempt: 1}, State: filewise.Done,
				Elapsed: time.Second}
			for k, users := range p.Params.Users {
				noise := 1 + 0.005*math.Sin(float64(31*b+7*l.Rank+3*k))
				x := throughput(l.Rank, users) * noise
				tr.Measures = append(tr.Measures, filewise.Measure{Operation: workload.UsersOperation(users), Unit: "transactions",
					Window: [2]time.Duration{0, time.Second}, Work: x, Types: map[string]filewise.TypeMeasure{
						"new-order": {Work: x / 2, Hist: histOf(t, 100, 1, 2)},
						"payment":   {Work: x / 2, Hist: histOf(t, 100, 1, p99(l.Rank)), Errors: map[filewise.Class]int64{filewise.ClassDeadlock: 2}},
						"rare":      {Work: 1, Hist: histOf(t, 1, 5000)},
					}})
			}
			all = append(all, tr)
		}
	}
	return all
}

func quick(int) int64 { return 3 }

// Layouts differ from 50 users on; 1 file's curve bends as planted.
func TestSweep(t *testing.T) {
	p := sweepPlan(1, 10, 50, 200)
	usl := func(sigma, kappa float64, n int) float64 {
		return 100 * float64(n) / (1 + sigma*float64(n-1) + kappa*float64(n*(n-1)))
	}
	trials := trialsOf(t, p, 10, func(files, users int) float64 {
		if files == 1 || users < 50 {
			return usl(0.02, 0.001, users)
		}
		return usl(0.02, 0.0008, users)
	}, quick)
	j, err := p.Judge(trials)
	if err != nil {
		t.Fatal(err)
	}
	if j.Sweep == nil || j.Sweep.Differs != 50 || !strings.HasPrefix(j.Sweep.Sentences[0], "Layouts differ from 50 users on") {
		t.Fatalf("%+v", j.Sweep)
	}
	one := j.Sweep.Curves[0]
	if one.Layout != "1 file" || len(one.Points) != 4 || one.Points[0].Trials != 10 {
		t.Fatalf("%+v", one)
	}
	for _, pt := range one.Points {
		want := usl(0.02, 0.001, pt.Users)
		if math.Abs(pt.Throughput/want-1) > 0.005 || *pt.Hi-*pt.Lo > want/50 || pt.Throughput < *pt.Lo || pt.Throughput > *pt.Hi {
			t.Errorf("%d users: %v, %v … %v, want %v", pt.Users, pt.Throughput, *pt.Lo, *pt.Hi, want)
		}
	}
	if f := one.Fit; f == nil || math.Abs(f.Sigma-0.02) > 0.002 || math.Abs(f.Kappa-0.001) > 0.0001 ||
		math.Abs(*f.Peak-math.Sqrt(0.98/0.001)) > 1 {
		t.Errorf("fit %+v", one.Fit)
	}
	if len(j.Operations) != 4 || slices.Index(j.Sentences(), j.Sweep.Sentences[0]) < 0 {
		t.Errorf("%d operations, sentences %q", len(j.Operations), j.Sentences())
	}
	// Three levels have no fit, and one level no curve.
	p = sweepPlan(1, 10, 50)
	if j, err = p.Judge(trialsOf(t, p, 5, func(int, int) float64 { return 100 }, quick)); err != nil || j.Sweep.Curves[0].Fit != nil ||
		j.Sweep.Differs != 0 {
		t.Errorf("%+v, %v", j.Sweep, err)
	}
	p = sweepPlan(10)
	if j, err = p.Judge(trialsOf(t, p, 5, func(int, int) float64 { return 100 }, quick)); err != nil || j.Sweep != nil {
		t.Errorf("%+v, %v", j.Sweep, err)
	}
}

// A layout whose 99th percentile is beyond the limit is not recommended, however fast it is: the best of the others
// is, and the reason is reported.
func TestP99Limit(t *testing.T) {
	p := sweepPlan(10)
	faster := func(files, _ int) float64 { return 100 * (1 + float64(files)/10) }
	slow := func(files int) int64 { return int64(10 * files) } // 10, 20 and 40 ms
	trials := trialsOf(t, p, 8, faster, slow)
	for limit, want := range map[time.Duration]string{0: "4 files", time.Second: "4 files", 41 * time.Millisecond: "4 files",
		30 * time.Millisecond: "2 files",
		15 * time.Millisecond: "1 file", 5 * time.Millisecond: ""} {
		p.P99Limit = limit
		j, err := p.Judge(trials)
		if err != nil {
			t.Fatal(err)
		}
		analysis, _ := j.First().Result.Last()
		got := ""
		if analysis.Recommended >= 0 {
			got = j.First().Result.Arms[analysis.Recommended].Name
		}
		if got != want {
			t.Errorf("limit %v: recommended %q, want %q: %q", limit, got, want, j.Sentences())
		}
		if barred := want != "4 files"; barred != strings.Contains(j.Sentences()[0], "its p99 of payment in 10 users is 40") {
			t.Errorf("limit %v: %q", limit, j.Sentences()[0])
		}
		if want == "" && !strings.HasPrefix(j.Sentences()[0], "No recommendation") {
			t.Errorf("limit %v: %q", limit, j.Sentences()[0])
		}
	}
}

// Latencies cover all trials in blocks together, by type.
func TestLatencies(t *testing.T) {
	p := sweepPlan(10)
	trials := trialsOf(t, p, 4, func(int, int) float64 { return 120 }, func(files int) int64 { return int64(10 * files) })
	all, err := p.Latencies(trials)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 9 {
		t.Fatalf("%d latencies of 3 layouts and 3 types", len(all))
	}
	want := map[string]experiment.Latency{
		"new-order": {Count: 800, P50: time.Millisecond, P99: 2 * time.Millisecond},
		"payment":   {Count: 800, P50: time.Millisecond, P99: 10 * time.Millisecond, Errors: map[filewise.Class]int64{filewise.ClassDeadlock: 8}},
		"rare":      {Count: 4, P50: 5 * time.Second, P99: 5 * time.Second},
	}
	near := func(got, want time.Duration) bool { return math.Abs(float64(got)/float64(want)-1) < 0.002 }
	for _, l := range all[:3] {
		w := want[l.Type]
		if l.Layout != "1 file" || l.Count != w.Count || !near(l.P50, w.P50) || !near(l.P99, w.P99) || !maps.Equal(l.Errors, w.Errors) {
			t.Errorf("%+v, want %+v", l, w)
		}
		if l.Type == "new-order" && math.Abs(l.PerMinute-3600) > 40 {
			t.Errorf("%v new-orders a minute, want 3,600", l.PerMinute)
		}
	}
	trials[5].Measures[0].Types["payment"] = filewise.TypeMeasure{Hist: []byte("damaged")}
	if _, err := p.Latencies(trials); err == nil || !strings.Contains(err.Error(), "block 1") {
		t.Errorf("a damaged histogram: %v", err)
	}
}

// In an open loop operations are figures of latency; the limit holds for them too.
// An undecided verdict names the layouts beyond the limit as well.
func TestP99LimitUndecided(t *testing.T) {
	p := sweepPlan(10)
	p.P99Limit = 15 * time.Millisecond
	rates, at := []float64{100, 10, 300, 40, 170}, 0
	noisy := func(int, int) float64 { at++; return rates[at%len(rates)] }
	trials := trialsOf(t, p, 4, noisy, func(files int) int64 { return int64(10 * files) })
	j, err := p.Judge(trials)
	if err != nil {
		t.Fatal(err)
	}
	text := j.Sentences()[0]
	if !strings.HasPrefix(text, "Undecided") || !strings.Contains(text,
		"Beyond the latency limit of 15 ms, and so not to be recommended: 2 files (") || strings.Contains(text, "1 file (") {
		t.Errorf("%q", text)
	}
}

func TestP99LimitOfRate(t *testing.T) {
	p := sweepPlan(10)
	load := p.Phases[0]
	trials := trialsOf(t, p, 8, func(int, int) float64 { return 100 }, func(files int) int64 { return int64(10 * files) })
	for i := range trials {
		of := trials[i].Measures[0]
		for k, figure := range []string{filewise.MeanLatency, filewise.P99Latency} { // 4 files are planted as the fastest
			files := map[string]int{"1 file": 1, "2 files": 2, "4 files": 4}[trials[i].Cell.Layout]
			took := time.Duration(float64(time.Second) / (of.Work * float64(files+k)))
			trials[i].Measures = append(trials[i].Measures, filewise.Measure{Operation: filewise.LatencyOperation(load, figure),
				Unit: filewise.UnitTimes, Window: [2]time.Duration{0, took}, Work: 1})
		}
	}
	p.Phases = []string{filewise.LatencyOperation(load, filewise.MeanLatency), filewise.LatencyOperation(load, filewise.P99Latency)}
	for limit, want := range map[time.Duration]string{41 * time.Millisecond: "4 files", 30 * time.Millisecond: "2 files",
		5 * time.Millisecond: ""} {
		p.P99Limit = limit
		j, err := p.Judge(trials)
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range j.Operations {
			analysis, _ := f.Result.Last()
			got := ""
			if analysis.Recommended >= 0 {
				got = f.Result.Arms[analysis.Recommended].Name
			}
			why := []string{"mean latency", "p99 latency"}[i] + " "
			if got != want || want != "4 files" && !strings.Contains(f.Sentences[0], why) {
				t.Errorf("limit %v, %s: recommended %q, want %q: %q", limit, f.Name, got, want, f.Sentences)
			}
		}
	}
}
