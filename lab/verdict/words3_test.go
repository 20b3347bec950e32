package verdict

import (
	"fmt"
	"testing"
)

// The headline has the decision, its size and confidence, then what to do.
func TestHeadline3(t *testing.T) {
	proven := func(effect, lo, hi, regret float64) Estimate {
		e := estimate(effect, lo, hi)
		e.Candidate, e.WorstLoss = true, percent(regret)
		return e
	}
	most := func(p float64) Estimate { return Estimate{WorstLoss: percent(p), Candidate: true} }
	last := Analysis{Block: 9, Trials: 45, Stop: ReasonMaxBlocks, Recommended: -1, Leader: 0}
	use, ahead, carried, changed, early := last, last, last, last, last
	use.Recommended, use.Leader, ahead.Leader = 3, 3, 3
	carried.CarryOver, changed.Changed, early.Block = true, true, 4
	needs := last
	needs.BlocksNeeded = 24
	far := last
	far.BlocksToKeep, far.BlocksNeeded = 24, 840
	for name, c := range map[string]struct {
		analysis  Analysis
		estimates map[int]Estimate
		want      string
	}{
		"use": {use, map[int]Estimate{0: most(9), 3: proven(6.1, 4.9, 7.4, 1.53)},
			"Use 8 files: +6.1 % over 1 file (95 % interval +4.9 to +7.4 %). No other tested layout is more than 1.6 % faster."},
		"use, times": {use, map[int]Estimate{0: most(2740), 3: proven(1370, 523, 2740, 0)},
			"Use 8 files: 14.7 times the throughput of 1 file (95 % interval 6.23 to 28.4 times). No other tested layout is faster."},
		"use, within the tolerance": {use, map[int]Estimate{0: most(600), 3: proven(400, 310, 500, 39.3), 4: proven(390, 200, 600, 50)},
			"Use 8 files: 5 times the throughput of 1 file (95 % interval 4.1 to 6 times). 16 files could be up to 39.3 % faster still, " +
				"which is within the tolerance (a quarter of the proven gain). What to do: to settle it, run with --goal best."},
		"keep": {last, map[int]Estimate{0: most(1.83)}, "Keep 1 file: at most 1.9 % can be gained by any tested layout (95 % confidence)."},
		"keep, a margin that is named": {last, map[int]Estimate{0: most(4.2)},
			"Keep 1 file: at most 4.2 % can be gained by any tested layout (95 % confidence)."},
		"keep, all slower": {last, map[int]Estimate{0: most(0)}, "Keep 1 file: no tested layout is faster (95 % confidence)."},
		"open": {needs, map[int]Estimate{0: most(5.2)},
			"Keep 1 file for now: no layout is proven faster, and up to 5.2 % is open (95 % confidence). " +
				"What to do: if 5.2 % is not worth a change, you are done; to resolve 2 %, measure about 24 blocks " +
				"in all: filewise resume 1 --budget 15m"},
		"open, 2 % is far": {far, map[int]Estimate{0: most(5.2)},
			"Keep 1 file for now: no layout is proven faster, and up to 5.2 % is open (95 % confidence). " +
				"What to do: if 5.2 % is not worth a change, you are done; to get it within 5 %, measure about 24 blocks " +
				"in all (2 %: about 840): filewise resume 1 --budget 15m"},
		"open, out of reach": {last, map[int]Estimate{0: most(5.2)},
			"Keep 1 file for now: no layout is proven faster, and up to 5.2 % is open (95 % confidence). " +
				"What to do: if 5.2 % is not worth a change, you are done; to resolve 2 % takes more blocks than can be planned: " +
				"set a wider --margin, or reduce noise."},
		"more": {ahead, map[int]Estimate{0: most(9), 1: proven(4, 3.6, 6, 4.3), 2: proven(5, 3.7, 7, 4.2), 3: proven(5, 3.8, 7, 4.2)},
			"More files help: 2 files, 4 files and 8 files are each at least +3.6 % over 1 file (95 % confidence), and up to 4.3 % more than " +
				"with 2 files is open. What to do: take 2 files, the fewest of them, or run longer (--budget)."},
		"more, the leader unproven": {ahead, map[int]Estimate{0: most(60), 2: proven(5, 3.7, 7, 58), 3: proven(30, -4, 60, 0)},
			"More files help: 4 files is at least +3.7 % over 1 file (95 % confidence), and up to 58 % more than with 4 files is open. " +
				"What to do: use 4 files, or run longer (--budget)."},
		"carry-over": {carried, map[int]Estimate{0: most(5)}, "No verdict: each trial affects the one after it, so the differences cannot " +
			"be attributed to the layouts. What to do: set a longer --warm-up or --window."},
		"changed": {changed, map[int]Estimate{0: most(5)}, "No verdict: the effect of a layout changed during the run, so that the limits of " +
			"earlier and later blocks exclude each other. What to do: see \"Every trial\" for when, remove the cause, and run again."},
		"early": {early, map[int]Estimate{0: most(5)}, "Too early to say: 4 of the 6 blocks that an interval needs are complete. " +
			"2 more take about 75 s. What to do: measure them: filewise resume 1 --budget 4m"},
	} {
		r := resultWith(c.analysis, c.estimates)
		r.Config.Rules, r.Config.MaxBlocks = 3, 20
		if got := Headline(r, WordsOptions{BlockSeconds: 37.5, Resume: func(blocks int) string {
			return fmt.Sprintf("filewise resume 1 --budget %.0fm", float64(blocks)*37.5/60)
		}}); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, c.want)
		}
	}
}
