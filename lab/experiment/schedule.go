package experiment

import (
	"math"
	"slices"
	"time"

	"filewise"
	"filewise/lab/verdict"
	"filewise/lab/verdict/stats"
)

// warmUpFactor multiplies the longest warm-up that the pilots show (docs/statistics-rules.md: one common discard of
// 1.25 × the largest MSER-5 cut).
const warmUpFactor = 1.25

// minWarmUp is discarded even if the pilots look steady from the start.
const minWarmUp = 100 * time.Millisecond

// budgetShare is the share of the budget left after the pilots that is planned for blocks. The rest allows for slower
// trials, so that they do not cost the last block.
const budgetShare = 0.95

// schedule returns what the pilots fix: the warm-up, the duration of a trial, the number of blocks and, in interleaved
// blocks, the turns.
func (h history) schedule() Schedule {
	p := h.plan
	s := Schedule{WarmUp: max(p.WarmUp, 0), MaxBlocks: p.MaxBlocks, Steady: true}
	if p.Observe == ObserveRest {
		s.OthersWrite = h.othersWrite()
	}
	var trials, cut, drained time.Duration
	pilots, windows := 0, 1
	for _, l := range p.Layouts {
		t := h.tries[cellKey{0, l.Name}].done
		if t == nil || len(t.Measures) == 0 {
			continue
		}
		if p.Window > 0 { // fixed work is measured whole
			for _, m := range windowed(*t) {
				c, steady := warmUpCut(m)
				cut, s.Steady = max(cut, c), s.Steady && steady
			}
		}
		trials += p.trialTime(*t)
		drained += stageTime(*t, filewise.StageDrain)
		pilots++
		windows = max(windows, len(windowed(*t)))
	}
	if pilots == 0 {
		return s
	}
	if p.WarmUp < 0 && p.Window > 0 {
		// whole slices, so that they begin and end with the window
		s.WarmUp = p.whole(max(minWarmUp, time.Duration(warmUpFactor*float64(cut))))
	}
	if p.Interleaved {
		return h.takeTurns(s)
	}
	s.TrialTime = s.WarmUp*time.Duration(windows) + trials/time.Duration(pilots)
	if p.OnePilot {
		return s
	}
	if p.Rounds > 0 { // each round has a lead and comes to rest
		s.Turn, s.Rounds = p.Window/time.Duration(p.Rounds), p.Rounds
		s.TrialTime += time.Duration(p.Rounds) * (p.lead(s) + drained/time.Duration(pilots))
	}
	if p.Budget > 0 {
		left := budgetShare * float64(p.Budget-h.pilotTime()-h.furtherBuilds(p.Builds))
		n := int(left / float64(time.Duration(pilots)*s.TrialTime))
		s.MaxBlocks = min(p.MaxBlocks, max(n, verdict.FirstAnalysis))
		s.ByBudget = s.MaxBlocks < p.MaxBlocks
	}
	return s
}

// mostBudget returns the largest budget that the plan may reach. 0 means there is none.
func (p Plan) mostBudget() time.Duration { return max(p.Budget, p.BudgetMost) }

// budget returns the plan's budget. A default budget grows to what the blocks that an interval needs take. It follows
// from the pilots alone, not from the blocks.
func (h history) budget() time.Duration {
	p := h.plan
	if p.BudgetMost <= p.Budget || len(p.Extended) > 0 {
		return p.Budget
	}
	if _, more := h.nextPilot(); more {
		return p.Budget
	}
	blocks := time.Duration(float64(p.leastBlocks()*h.inQuestion()) * float64(h.schedule().TrialTime) / budgetShare)
	needed := h.pilotTime() + h.furtherBuilds(p.Builds) + blocks
	return min(max(p.Budget, needed.Round(time.Second)), p.BudgetMost)
}

// trialTime returns the expected duration of a trial from its layout's pilot, without the warm-up.
func (p Plan) trialTime(pilot filewise.Trial) time.Duration {
	again := pilot.Elapsed - onceOnly(pilot)
	switch {
	case !p.driven(): // a pilot does all the work of a trial
		return again
	case p.Window > 0:
		for _, m := range windowed(pilot) {
			again += p.Window - (m.Window[1] - m.Window[0])
		}
		return again
	}
	window := pilot.Measures[0].Window[1] - pilot.Measures[0].Window[0]
	return again - window + time.Duration(float64(window)*float64(p.Work)/float64(p.pilotWork()))
}

// windowed returns the measures of a trial except measures of latency, which share a window.
func windowed(t filewise.Trial) []filewise.Measure {
	return slices.DeleteFunc(slices.Clone(t.Measures), func(m filewise.Measure) bool { return m.Unit == filewise.UnitTimes })
}

// pilotWork returns the fixed work of a pilot, in bytes.
func (p Plan) pilotWork() int64 {
	if p.PilotWork > 0 {
		return p.PilotWork
	}
	return p.Work
}

// onceOnly returns how long loading the build of a trial took. The next trial on that build only resets it. It includes
// stages that only the first build of a layout needs.
func onceOnly(t filewise.Trial) time.Duration {
	var d, first time.Duration
	loaded := false
	for _, s := range t.Stages {
		if s.Name == filewise.StageBuild || s.Name == filewise.StageLoad || s.Name == filewise.StageExtend {
			d += s.Took
		}
		if s.Name == filewise.StageCreate {
			first += s.Took
		}
		loaded = loaded || s.Name == filewise.StageLoad
	}
	if !loaded || t.Build == "" { // a build without a name is loaded again for every trial
		return first
	}
	return d + first
}

// furtherBuilds returns how long it takes to load the builds that trials take turns on: that many per layout, without
// the pilots' builds.
func (h history) furtherBuilds(builds int) time.Duration {
	var once time.Duration
	pilots := 0
	for _, l := range h.plan.Layouts {
		if t := h.tries[cellKey{0, l.Name}].done; t != nil && t.Build != "" {
			if h.plan.CopiedBuilds { // copying the files, with stop and start, takes as long as the snapshot took
				once += stageTime(*t, filewise.StageLoad)
			} else {
				once += onceOnly(*t) - stageTime(*t, filewise.StageCreate)
			}
			pilots++
		}
	}
	if pilots == 0 {
		return 0
	}
	return once / time.Duration(pilots) * time.Duration(h.inQuestion()*max(builds-1, 0))
}

// pilotTime returns the wall time of all pilots, including failed ones.
func (h history) pilotTime() time.Duration {
	var d time.Duration
	for _, t := range slices.Concat(h.left, h.trials) {
		if t.Cell.Pilot {
			d += t.Elapsed
		}
	}
	return d
}

// warmUpCut returns how long a trial's throughput took to settle by MSER-5 (White 1997). It returns false if throughput
// had not settled by the middle of the window.
func warmUpCut(m filewise.Measure) (time.Duration, bool) {
	if m.SliceLength <= 0 {
		return 0, true
	}
	n := min(len(m.Slices), int(m.Window[1]/m.SliceLength))
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(m.Slices[i])
	}
	r, err := stats.MSER5(x)
	if err != nil { // there are too few slices to judge
		return 0, true
	}
	return time.Duration(r.Truncate) * m.SliceLength, !r.AtEdge
}

// MarginLog returns the margin on the log scale.
func (p Plan) MarginLog() float64 { return marginLog(p.Margin) }

// marginLog converts a margin in percent into δ on the log scale.
func marginLog(percent float64) float64 { return math.Log1p(percent / 100) }
