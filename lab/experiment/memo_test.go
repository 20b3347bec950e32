package experiment

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filewise"
	"filewise/lab/verdict"
)

// What a run remembers of its complete blocks changes nothing: after every trial
// the same cell comes next as without.
func TestMemoChangesNothing(t *testing.T) {
	for _, measure := range []string{MeasureWorkload, MeasureLifecycle} {
		t.Run(measure, func(t *testing.T) { memoChangesNothing(t, measure) })
	}
}

func memoChangesNothing(t *testing.T, measure string) {
	p := Plan{Measure: measure, Seed: 3, Baseline: "1 file", Margin: 2, Confidence: 0.95, Goal: verdict.GoalRecommend, MaxBlocks: 9,
		Attempts: 2}
	for _, n := range []int{1, 2, 4} {
		p.Layouts = append(p.Layouts, filewise.Layout{Name: filewise.FilesName(n), Rank: n})
	}
	var done []filewise.Trial
	m := new(memo)
	for {
		cell, d := p.Next(done)
		with := p.standingBy(done, m)
		if !cmp.Equal(cell, with.next) || !cmp.Equal(d, with.decision) {
			t.Fatalf("after %d trials: %+v %+v, remembered %+v %+v", len(done), cell, d, with.next, with.decision)
		}
		if d.Ending != GoesOn {
			break
		}
		done = append(done, made(cell, len(done)))
	}
	if last := done[len(done)-1].Cell.Block; last < 4 {
		t.Errorf("ended after %d blocks: nothing was remembered", last)
	}
}

// made is a trial in which 4 files are slow and every seventh fails at first.
func made(c filewise.Cell, i int) filewise.Trial {
	t := filewise.Trial{Cell: c, State: filewise.Done}
	if i%7 == 5 && c.Attempt == 1 {
		t.State, t.Reason = filewise.Failed, "planted"
		return t
	}
	work := 1000 + float64(i*7919%50)
	if c.Layout == "4 files" {
		work *= 0.7
	}
	for f, operation := range append([]string{"insert"}, lifecycleOperations...) {
		if f == 2 && c.Layout == "2 files" { // one operation differs more than the others
			work *= 1.5
		}
		t.Measures = append(t.Measures, filewise.Measure{Operation: operation, Window: [2]time.Duration{0, time.Second}, Work: work})
	}
	return t
}
