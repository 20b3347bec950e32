package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/internal/say"
	"filewise/lab/experiment"
)

// mixed is a run of two types of operations, over load levels if there are any.
func mixed(levels bool) Data {
	d := Data{Plan: experiment.Plan{Baseline: "1 file", Confidence: 0.95, P99Limit: 50 * time.Millisecond,
		Layouts: []filewise.Layout{{Name: "1 file"}, {Name: "4 files"}}}}
	d.Judgement.Latencies = []experiment.Latency{
		{Operation: "orders", Layout: "1 file", Type: "new-order", Count: 900, PerMinute: 5400, P50: 2 * time.Millisecond,
			P90: 3 * time.Millisecond, P99: 9 * time.Millisecond, P999: 11 * time.Millisecond, Max: 2 * time.Second,
			Errors: map[filewise.Class]int64{filewise.ClassDeadlock: 7}},
		{Operation: "orders", Layout: "4 files", Type: "<i>rare</i>"},
	}
	if levels {
		lo, hi := 95.0, 104.0
		d.Judgement.Sweep = &experiment.Sweep{Curves: []experiment.Curve{
			{Layout: "1 file", Points: []experiment.Point{{Users: 100, Trials: 3, Throughput: 99, Lo: &lo, Hi: &hi},
				{Users: 200, Trials: 1, Throughput: 140}}},
			{Layout: "4 files", Points: []experiment.Point{{Users: 100, Trials: 1, Throughput: 101}}},
		}}
	}
	return d
}

// Every format has the latencies by type, what the limit is, and the curves.
func TestTypesAndLoads(t *testing.T) {
	var markdown, html, terminal bytes.Buffer
	d := mixed(true)
	for _, err := range []error{Markdown(&markdown, d), HTML(&html, d), Terminal(&terminal, mixed(false), TerminalOptions{Width: 200})} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string][]string{
		markdown.String(): {"| orders | 1 file | new-order | 5,400 | 2 ms | 3 ms | 9 ms | 11 ms | 2 s | 7 × deadlock |",
			"p99 of any type is above 50 ms is not recommended",
			"| load | 1 file | 4 files |", "| 100 users | 99.0 (95.0 … 104) | 101 |", "| 200 users | 140 | " + say.Absent + " |"},
		html.String(): {"Latency by type of operations", `>new-order</td>`, "7 × deadlock", "Throughput by load",
			"99.0 (95.0 … 104)", "&lt;i&gt;rare"},
		terminal.String(): {"new-order", "5,400", "9 ms"},
	} {
		for _, w := range want {
			if !strings.Contains(name, w) {
				t.Errorf("no %q in\n%s", w, name[:min(len(name), 4000)])
			}
		}
		if name != terminal.String() && strings.Contains(name, "<i>rare") {
			t.Error("a name is taken for markup")
		}
	}
	d.Judgement.Sweep.Curves[0].Points, d.Judgement.Sweep.Curves[1].Points = nil, nil
	if s := newView(d).loads(); s != nil {
		t.Errorf("without a trial there is a table of %+v", s)
	}
	d = mixed(true)
	terminal.Reset()
	if err := Terminal(&terminal, d, TerminalOptions{Width: 120}); err != nil || !strings.Contains(terminal.String(), "99.0 (95.0 … 104)") {
		t.Errorf("%v: %s", err, terminal.String())
	}
}

// If nothing was measured there is no table of load levels.
func TestNoLoads(t *testing.T) {
	var terminal bytes.Buffer
	d := mixed(true)
	for i := range d.Judgement.Sweep.Curves {
		d.Judgement.Sweep.Curves[i].Points = nil
	}
	if err := Terminal(&terminal, d, TerminalOptions{Width: 120}); err != nil || strings.Contains(terminal.String(), "load  1 file") {
		t.Errorf("%v: %s", err, terminal.String())
	}
	d = mixed(true)
	if err := Terminal(&terminal, d, TerminalOptions{Width: 120}); err != nil ||
		!strings.Contains(strings.Join(strings.Fields(terminal.String()), " "), "load 1 file 4 files") {
		t.Errorf("%v: %s", err, terminal.String())
	}
}
