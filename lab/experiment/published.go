package experiment

import (
	"fmt"
	"time"

	"filewise"
	"filewise/internal/say"
	"filewise/lab/verdict"
)

// AsPublished is an article's own design: each layout runs several times, one layout after the other, without pilots.
// Run k of every layout counts as block k, so that the same trials can also be judged by a sound verdict.
type AsPublished struct {
	Repeats int     `json:"repeats"`        // runs of each layout
	Drop    int     `json:"drop,omitempty"` // runs left out of the average: this many of the fastest, and of the slowest
	Scale   float64 `json:"scale"`          // ratio of sizes to the article's
}

// Times returns in words how often each layout runs.
func (a AsPublished) Times() string {
	if a.Repeats == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", a.Repeats)
}

// publishedStanding returns the standing of an article's design. As in any design, the next trial follows from the
// trials alone.
func (s standing) publishedStanding(m *memo) standing {
	p := s.plan
	complete := s.completeRuns()
	rules := s.schedule
	rules.TrialTime = 0 // no verdict depends on it
	results, known := m.of(rules, complete)
	if !known {
		if results, s.err = s.history.judge(rules, complete, m); s.err == nil {
			m.keep(rules, complete, results)
		}
	}
	s.results = results
	next, more := s.nextRun()
	switch why := s.broken(); {
	case why != "":
		s.decision = Decision{Ending: Broken, Why: why}
	case s.err != nil:
		s.decision = Decision{Ending: Broken, Why: s.err.Error()}
	case !more:
		s.decision = Decision{Ending: Spent, Why: fmt.Sprintf("all %d runs of the published design are measured", len(p.Trials()))}
	case p.Budget > 0 && s.elapsed > p.Budget:
		s.decision = Decision{Ending: Spent, Why: fmt.Sprintf("the budget of %s is spent before the published design is complete",
			say.Human(p.Budget))}
	default:
		s.next = next
	}
	return s
}

// nextRun returns the first run that is neither done nor given up, layout by layout. A failed run is retried at once. A
// layout that is given up has no further runs.
func (h history) nextRun() (filewise.Cell, bool) {
	for pos, l := range h.plan.Layouts {
		for run := 1; run <= h.plan.AsPublished.Repeats; run++ {
			if h.open(run, pos) {
				return filewise.Cell{Block: run, Position: pos, Layout: l.Name, Attempt: h.tries[cellKey{run, l.Name}].n + 1}, true
			}
			if h.tries[cellKey{run, l.Name}].done == nil {
				break
			}
		}
	}
	return filewise.Cell{}, false
}

// completeRuns returns the number of runs that every layout has finished, apart from layouts given up.
func (h history) completeRuns() int {
	for run := 1; run <= h.plan.AsPublished.Repeats; run++ {
		for i, l := range h.plan.Layouts {
			if h.tries[cellKey{run, l.Name}].done == nil && !h.withdrawn(i, run+1) {
				return run - 1
			}
		}
	}
	return h.plan.AsPublished.Repeats
}

// publishedTrials returns all runs of the design, in order.
func (p Plan) publishedTrials() []filewise.Cell {
	var out []filewise.Cell
	for pos, l := range p.Layouts {
		for run := 1; run <= p.AsPublished.Repeats; run++ {
			out = append(out, filewise.Cell{Block: run, Position: pos, Layout: l.Name, Attempt: 1})
		}
	}
	return out
}

// publishedSchedule returns a schedule that expects every trial to take as long as those before, on average.
func (h history) publishedSchedule() Schedule {
	s := Schedule{MaxBlocks: max(h.plan.AsPublished.Repeats, verdict.FirstAnalysis), Steady: true}
	if n := len(h.trials); n > 0 {
		s.TrialTime = h.elapsed / time.Duration(n)
	}
	return s
}

// tooFewRuns returns why a design cannot have a sound verdict, or "" if it can.
func (p Plan) tooFewRuns() string {
	a := p.AsPublished
	if a == nil || a.Repeats >= verdict.FirstAnalysis {
		return ""
	}
	return fmt.Sprintf("No sound verdict is possible from this design: each layout is run %s, which cannot distinguish a difference between "+
		"layouts from one between runs; a verdict needs %d runs of each.",
		a.Times(), verdict.FirstAnalysis)
}
