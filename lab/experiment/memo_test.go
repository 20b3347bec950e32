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

// Choosing the next cell of a long run costs no more memory for each block that is complete.
func TestCompleteBlocksCostNothing(t *testing.T) {
	p := Plan{Rules: 3, Seed: 3, Baseline: "1 file", Margin: 0.4, Confidence: 0.95, Goal: verdict.GoalVerdicts, MaxBlocks: 30,
		Bounds: 0.01, Attempts: 2}
	for _, n := range []int{1, 2} {
		p.Layouts = append(p.Layouts, filewise.Layout{Name: filewise.FilesName(n), Rank: n})
	}
	after := func(blocks int) float64 {
		var done []filewise.Trial
		for block := range blocks + 1 {
			for i, l := range p.Layouts {
				done = append(done, filewise.Trial{Cell: filewise.Cell{Pilot: block == 0, Block: block, Position: i, Layout: l.Name, Attempt: 1},
					State: filewise.Done, Measures: []filewise.Measure{{Operation: "insert", Window: [2]time.Duration{0, time.Second},
						Work: 1000 + 10*float64((block+i)%2)}}}) // which is faster alternates, so that all stays open
			}
		}
		done = done[:len(done)-1] // in the middle of a block
		m := new(memo)
		if at := p.standingBy(done, m); at.decision.Ending != GoesOn || at.next.Block != blocks {
			t.Fatalf("after %d blocks: %+v, next %+v", blocks, at.decision, at.next)
		}
		return testing.AllocsPerRun(10, func() { p.standingBy(done, m) })
	}
	if few, many := after(4), after(14); many > 2*few {
		t.Errorf("allocations after 4 blocks: %v, after 14: %v", few, many)
	}
}
