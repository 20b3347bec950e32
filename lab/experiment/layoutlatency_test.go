package experiment_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/lab/experiment"
)

// Of several operations each that loses is named; of one there is nothing to distinguish it from.
func TestLatencyLossOfOperations(t *testing.T) {
	insert := experiment.Operation{Name: "insert", LatencyLoss: "Caution: p99 is long."}
	for want, operations := range map[string][]experiment.Operation{
		"": nil, "Caution: p99 is long.": {insert}, "Caution, insert: p99 is long.": {{Name: "select"}, insert},
		"Caution, insert: p99 is long. Caution, insert: p99 is long.": {insert, insert},
	} {
		if text := (experiment.Judgement{Operations: operations}).LatencyLoss(); text != want {
			t.Errorf("it says %q, want %q", text, want)
		}
	}
}

// A layout that wins throughput and takes twice as long is recommended with that in the verdict's first lines; p99
// and its change equal the planted ones.
func TestLatencyLoss(t *testing.T) {
	p := sweepPlan(10)
	faster := func(files, _ int) float64 { return 100 * (1 + float64(files)/10) }
	for _, c := range []struct {
		p99  func(files int) int64
		said string
	}{
		{func(files int) int64 { return int64(10 * files) }, "Caution: p99 of 4 files is 4 times that of 1 file: 40"},
		{func(files int) int64 { return int64(10 + files) }, ""},
	} {
		trials := trialsOf(t, p, 8, faster, c.p99)
		for i := range trials { // of one type
			m := &trials[i].Measures[0]
			m.Hist, m.Types = m.Types["payment"].Hist, nil
		}
		j, err := p.Judge(trials)
		if err != nil {
			t.Fatal(err)
		}
		f := j.First()
		if !strings.HasPrefix(f.LatencyLoss, c.said) || c.said == "" && f.LatencyLoss != "" {
			t.Errorf("it says %q, want %q", f.LatencyLoss, c.said)
		}
		if len(f.Latency) != 3 {
			t.Fatalf("%+v", f.Latency)
		}
		want := float64(c.p99(4)) / float64(c.p99(1))
		last := f.Latency[2]
		if effect, _, _ := last.Change.Interval(); math.Abs(math.Exp(effect)/want-1) > 0.01 || last.P50 != time.Millisecond ||
			last.Count != 1600 ||
			math.Abs(last.P99.Seconds()*1000/float64(c.p99(4))-1) > 0.01 || f.Latency[0].Change != nil {
			t.Errorf("%+v, want a change of %v", last, want)
		}
		p.P99Limit = time.Second // a user who sets a limit sees its result alone
		if j, err := p.Judge(trials); err != nil || j.First().LatencyLoss != "" {
			t.Errorf("with a limit: %q, %v", j.First().LatencyLoss, err)
		}
		p.P99Limit = 0
		for i := range trials {
			trials[i].Measures[0].Hist = histOf(t, 25, 1, 20) // few in a trial, enough in all of a layout
		}
		if j, err := p.Judge(trials); err != nil || len(j.First().Latency) != 3 || j.First().Latency[2].Change != nil ||
			j.First().Latency[2].Count != 400 {
			t.Errorf("of few operations in a trial: %+v, %v", j.First().Latency, err)
		}
		for i := range trials {
			trials[i].Measures[0].Hist = histOf(t, 1, 1, 2) // too few for a percentile
		}
		if j, err := p.Judge(trials); err != nil || len(j.First().Latency) > 0 {
			t.Errorf("of few operations: %+v, %v", j.First().Latency, err)
		}
	}
	// One slow trial of eight moves the p99 of all trials, and hardly the changes block by block: either one is
	// reported.
	for _, c := range []struct {
		slow          string
		base, several int64
		said          string
	}{
		{"4 files", 2, 2, "Caution: p99 of 4 files is 20.0 times that of 1 file: 40 ms, against 2 ms (block by block 1.45 times, 95 % "},
		{"1 file", 1, 6, "Caution: p99 of 4 files is 3.79 times that of 1 file, block by block (95 % interval "},
	} {
		trials := trialsOf(t, p, 8, faster, quick)
		for i := range trials {
			m := &trials[i].Measures[0]
			m.Types = nil
			switch l := trials[i].Cell.Layout; {
			case l == c.slow && trials[i].Cell.Block == 3:
				m.Hist = histOf(t, 100, 40, 40)
			case l == "1 file":
				m.Hist = histOf(t, 100, c.base, c.base)
			default:
				m.Hist = histOf(t, 100, c.several, c.several)
			}
		}
		j, err := p.Judge(trials)
		if err != nil || !strings.HasPrefix(j.First().LatencyLoss, c.said) {
			t.Errorf("one slow trial of %s: it says %q, want %q; %v", c.slow, j.First().LatencyLoss, c.said, err)
		}
	}
	bad := trialsOf(t, p, 4, faster, quick)
	bad[5].Measures[0].Hist = []byte("damaged")
	if _, err := p.Judge(bad); err == nil || filewise.CodeOf(err) == filewise.CodeUsage {
		t.Errorf("a damaged histogram: %v", err)
	}
}
