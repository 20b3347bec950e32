package experiment

import (
	"context"
	"slices"
	"testing"
	"time"

	"filewise"
	"filewise/lab/verdict"
)

// An operation that the pilots find too short is estimated, and the others divide the error, however
// much the short one differs between layouts. Chosen once, it stays so.
func TestShortOperationsHaveNoShare(t *testing.T) {
	p := Plan{Rules: 3, Scenario: "scan", Phases: []string{"query 1", "query 2", "query 3"}, Seed: 3, Baseline: "1 file", Margin: 2,
		Confidence: 0.95, Goal: verdict.GoalVerdicts, MaxBlocks: 8, Attempts: 1}
	for _, n := range []int{1, 4} {
		p.Layouts = append(p.Layouts, filewise.Layout{Name: filewise.FilesName(n), Rank: n})
	}
	took := func(i int, layout string) time.Duration {
		d := []time.Duration{time.Second, 50 * time.Microsecond, 25 * time.Millisecond}[i]
		if layout == "4 files" {
			d = d * 7 / 10
		}
		return d
	}
	trial := func(c filewise.Cell, n int) filewise.Trial {
		out := filewise.Trial{Cell: c, State: filewise.Done}
		for i, name := range p.Phases {
			window := took(i, c.Layout) * time.Duration(1000+n*7919%17) / 1000
			out.Measures = append(out.Measures, filewise.Measure{Operation: name, Unit: "queries", Window: [2]time.Duration{0, window}, Work: 1})
		}
		return out
	}
	var done []filewise.Trial
	for {
		s := p.standing(done)
		if next, short := s.tooShort(); short {
			if p = next; len(done) != 2 {
				t.Fatalf("chosen after %d trials, not after the pilots", len(done))
			}
			continue
		}
		if s.decision.Ending != GoesOn {
			break
		}
		done = append(done, trial(s.next, len(done)))
	}
	if !slices.Equal(p.Estimated, []string{"query 2"}) { // 25 ms and 17.5 ms: the median of layouts is long enough
		t.Fatalf("estimated: %q", p.Estimated)
	}
	j, err := p.Judge(done)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range j.Operations {
		analysis, ok := f.Result.Last()
		if !ok {
			t.Fatalf("%s: no analysis", f.Name)
		}
		short := f.Name == "query 2"
		if a := f.Result.Answer(); f.Estimated != short || analysis.Estimates[1].Known() == short ||
			(a.Decision == verdict.DecisionNone) != short {
			t.Errorf("%s: estimated %v, %+v, %+v", f.Name, f.Estimated, a, analysis.Estimates[1])
		}
		if c := f.Result.Config.Confidence; !short && (c < 0.9749 || c > 0.9751) {
			t.Errorf("%s is judged at %v: two operations divide 5 %%", f.Name, c)
		}
	}
	if got := j.Operations[1].Sentences; len(got) != 2 || got[1] != "4 files: about +42.4 % against 1 file (7 trials)." {
		t.Errorf("%q", got)
	}
}

// A long run stores its boundaries once, before its first block.
func TestLongRunsStoreBoundaries(t *testing.T) {
	p := Plan{Rules: 3, Baseline: "1 file", Margin: 2, Confidence: 0.95, Goal: verdict.GoalRecommend, MaxBlocks: longDesign, Attempts: 1}
	for _, n := range []int{1, 4} {
		p.Layouts = append(p.Layouts, filewise.Layout{Name: filewise.FilesName(n), Rank: n})
	}
	var done []filewise.Trial
	stored := 0
	r := Runner{Plan: p, Fix: func(_ context.Context, next Plan) error {
		if stored++; len(next.Boundaries) != 1 || len(done) != 2 {
			t.Errorf("%d boundaries are stored after %d trials", len(next.Boundaries), len(done))
		}
		return nil
	}}
	for range 8 {
		s := r.Plan.standing(done)
		if err := r.keepBoundaries(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		done = append(done, made(s.next, len(done)))
	}
	if cfg, arms := r.Plan.judging(r.Plan.standing(done).schedule, nil, 0.95); stored != 1 || !cfg.Knows(len(arms)) {
		t.Errorf("stored %d times", stored)
	}
}
