package archive

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/lab/experiment"
	"filewise/results/gate"
	"filewise/results/report/document"
	"filewise/results/store"
)

// compared is a comparison of two layouts: one is faster and far later in its tail, of the other nothing is proven.
func compared() Comparison {
	ms := func(n float64) *int64 { ns := int64(n * 1e6); return &ns }
	rate := func(x float64) *float64 { return &x }
	run := func(id int64, day int) store.Run {
		return store.Run{ID: id, Started: time.Date(2026, 3, day, 9, 26, 0, 0, time.UTC),
			Machine: []filewise.Fact{{Name: "CPU", Value: "EPYC"}, {Name: "cores", Value: "2"}},
			Plan:    experiment.Plan{Scenario: "inserts", Target: filewise.Target{Engine: "sqlite"}}}
	}
	return Comparison{Before: 1, After: 2, BeforeName: "old", Confidence: 0.95, runs: [2]store.Run{run(1, 1), run(2, 8)},
		Operations: []OperationChanges{{Unit: "rows", Layouts: []Change{
			{Layout: "1 file", Before: rate(100), After: rate(110), change: gate.Interval{Effect: 0.1, Lo: 0.05, Hi: 0.15},
				P99Before: ms(1), P99After: ms(33), p99: gate.Interval{Effect: 3.5, Lo: 2, Hi: 5}, relative: notKnown},
			{Layout: "8 files", Before: rate(200), After: rate(190), change: gate.Interval{Effect: -0.05, Lo: -0.2, Hi: 0.1},
				P99Before: ms(2), P99After: ms(1.9), p99: gate.Interval{Effect: -0.05, Lo: -1, Hi: 1}, relative: notKnown},
		}}}}
}

// The headline names which layout has changed the most, and by how much.
func TestHeadlineNamesTheLargestChange(t *testing.T) {
	c := compared()
	want := "of 2 layouts 1 faster (1 file, +10.5 %), 1 without a proven change. " +
		"p99: 1 longer (1 file, 33.1 times), 1 without a proven change."
	if got := c.sum(); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	c.Operations[0].Layouts[1].change = gate.Interval{Effect: 0.3, Lo: 0.2, Hi: 0.4}
	if got := c.sum(); !strings.HasPrefix(got, "of 2 layouts 2 faster (most: 8 files, +35.0 %). p99") {
		t.Error(got)
	}
}

// A page has the subject, the host and the time; a p99 that is proven to be longer is no blue bar, and one that is
// not proven to have changed has the colour of that.
func TestComparisonPage(t *testing.T) {
	write := func(format string) string {
		var b bytes.Buffer
		if err := compared().Write(&b, format, document.TerminalOptions{Width: 80}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	page := write("html")
	for _, want := range []string{"Scenario inserts on sqlite: before 2026-03-01 09:26", "after 2026-03-08 09:26",
		"both on EPYC, 2 cores", "old",
		`<abbr title="the latency that 50 %, 99 %, 99.9 % of operations stay within">p99</abbr>`, `<a href="#in-runs">Runs</a>`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	if strings.Contains(page, "c-best") || strings.Count(page, `class="c-worse"`) != 1 {
		t.Error("one bar alone is worse: p99 of 1 file, after")
	}
	markdown := write("markdown")
	for line := range strings.Lines(markdown) {
		if title, ok := strings.CutPrefix(line, "## "); ok && strings.Contains(markdown, "**"+strings.TrimSpace(title)+"**") {
			t.Errorf("%q is said twice", title)
		}
	}
	if !strings.Contains(markdown, "Scenario inserts on sqlite: before 2026-03-01") {
		t.Error("Markdown does not say what was measured")
	}
}

// What cannot be gone to has no place in the contents, which are left out then.
func TestNoEmptyContents(t *testing.T) {
	var b bytes.Buffer
	d := document.Document{Sections: []document.Section{{ID: "verdict", Blocks: []document.Block{document.Headline("Said.")}}}}
	if err := document.WriteHTML(&b, d); err != nil || strings.Contains(b.String(), "<nav") {
		t.Error(err, b.String())
	}
}

// A layout that was dropped has another throughput here than in its run's report: the comparison states that.
func TestLayoutsNotInAllBlocks(t *testing.T) {
	f := OperationChanges{Layouts: []Change{{Layout: "1 file", TrialsBefore: 6, TrialsAfter: 6},
		{Layout: "2 files", TrialsBefore: 6, TrialsAfter: 3},
		{Layout: "4 files", TrialsBefore: 5, TrialsAfter: 6}}}
	if got := f.partly(); !strings.HasPrefix(got, "Not in all blocks: 2 files and 4 files. ") {
		t.Error(got)
	}
	f.Layouts = f.Layouts[:1]
	if got := f.partly(); got != "" {
		t.Error(got)
	}
}
