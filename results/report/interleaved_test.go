package report

import (
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/lab/experiment"
)

// A report reports that layouts took turns, how long, and what is then one sample.
func TestReportShowsInterleavedBlocks(t *testing.T) {
	d := Data{Plan: experiment.Plan{Rounds: 5, Window: 2 * time.Second, Seed: 7, Target: filewise.Target{Mode: filewise.External}}}
	words := strings.Join(newView(d).methodWords(), "\n")
	for _, want := range []string{"interleaves 5 rounds", "turn of 400 ms", "seed 7", "geometric mean over its turns", "the one server",
		"2 s in all"} {
		if !strings.Contains(words, want) {
			t.Errorf("no %q in %q", want, words)
		}
	}
	if got := newView(d).designText(); !strings.Contains(got, "interleaved in 5 rounds") {
		t.Errorf("design %q", got)
	}
	d.Plan.Rounds = 0
	if words := strings.Join(newView(d).methodWords(), "\n"); strings.Contains(words, "interleaves") ||
		!strings.Contains(words, "One trial is one sample") {
		t.Errorf("without turns: %q", words)
	}
}
