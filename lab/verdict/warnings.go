package verdict

import (
	"fmt"
	"strings"
)

// Codes of warnings.
const (
	WarnUntested     = "untested"          // an arm has too few trials to be judged
	WarnMissing      = "missing-trials"    // trials are missing or failed
	WarnDownWeighted = "down-weighted"     // many runs of an arm are not typical
	WarnNoNoise      = "no-noise"          // all residuals are zero
	WarnOneBuild     = "one-instance"      // an arm ran on a single build
	WarnBuilds       = "instances-unknown" // builds were reused; their variance is not estimable yet
	WarnLimit        = "instances-limit"   // more blocks cannot help, more builds could
	WarnBudget       = "budget"            // MaxBlocks cannot resolve the margin
	WarnAAFailed     = "aa-failed"         // a twin of the baseline differs from it
	WarnCarryOver    = "carry-over"        // what ran before changes the next trial
	WarnStall        = "stall"             // a single trial carries an effect
	WarnUnused       = "unused-trials"     // trials that the design would not have run were ignored

	stallShare = 0.15  // share of an arm's trials that are outliers, from which to warn
	rounding   = 1e-24 // upper bound on the variance of logarithms of equal numbers
)

// warnings returns the warnings on the whole result. G is the grid that the last analysis used.
func (r *replay) warnings(result Result, g grid) []Warning {
	var w []Warning
	add := func(code, remedy, format string, args ...any) {
		w = append(w, Warning{Code: code, Message: fmt.Sprintf(format, args...), Remedy: remedy})
	}
	if arm, at, failed := result.AAFailed(); failed {
		add(WarnAAFailed, "See what else this machine did (filewise doctor), and run again with longer trials; of sound runs at most "+
			"one in "+oneIn(r.cfg.Confidence)+" fails this check.",
			"The A/A check failed after block %d: %s is the same as %s, and a difference of %s is claimed.",
			at.Block, r.arms[arm].Name, r.arms[arm].Twin, change(at.Estimates[arm].Effect))
	}
	r.warnTrials(result, g, add)
	analysis, ok := result.Last()
	if !ok {
		return w
	}
	r.warnBuilds(analysis, g, add)
	r.warnStalls(analysis, add)
	if analysis.CarryOver {
		add(WarnCarryOver, "Let the machine come to rest between trials (a longer --warm-up), or measure longer windows (--window).",
			"Which layout ran before changes the next trial: this is not chance (level %g %%), and no verdict is given on it.",
			100*carryLevelOf(r.cfg.Rules))
	}
	for j, e := range analysis.Estimates {
		if e.DownWeighted > 1 && float64(e.DownWeighted) >= stallShare*float64(e.N) {
			add(WarnDownWeighted, "Check its trials (filewise show --trials): the verdict describes typical trials, not stalls.",
				"%d of %d trials of %s were outliers and count less.", e.DownWeighted, e.N, r.arms[j].Name)
		}
	}
	if analysis.PooledVar < rounding {
		add(WarnNoNoise, "Check that the trials are measured and not copied.",
			"The trials show no noise at all.")
	}
	undecided := analysis.Stop == ReasonNone || analysis.Stop == ReasonFutile || analysis.Stop == ReasonMaxBlocks
	switch {
	case !undecided || analysis.Block < forecastFrom || analysis.ahead(r.cfg.Baseline):
	case analysis.BlocksNeeded > r.cfg.MaxBlocks:
		add(WarnBudget, "Set a longer --budget, or accept a wider --margin.",
			"Resolving %s takes about %d blocks; this run allows %d.",
			margin(r.cfg.Margin), analysis.BlocksNeeded, r.cfg.MaxBlocks)
	case analysis.BlocksNeeded == 0 && r.cfg.Rules > 2 && !r.reuses(g):
		if analysis.Block >= ForecastFrom(len(r.arms)) && analysis.PooledVar >= rounding {
			add(WarnBudget, "Lengthen the trials, remove the noise, or accept a wider margin.",
				"Differences of %s would need more than the %d blocks that can be planned.", margin(r.cfg.Margin), maxPlannedBlocks)
		}
	case analysis.BlocksNeeded == 0 && finite(analysis.PooledVar):
		add(WarnLimit, "Build each layout more often (--builds).",
			"Builds of one layout differ so much that more blocks cannot resolve %s.", margin(r.cfg.Margin))
	}
	return w
}

// oneIn phrases the error that a confidence allows: "20" for 95 %.
func oneIn(confidence float64) string {
	return fmt.Sprintf("%.0f", 1/(1-confidence))
}

type adder func(code, remedy, format string, args ...any)

// warnTrials warns of trials that are missing or were not used.
func (r *replay) warnTrials(result Result, g grid, add adder) {
	var present, planned int
	for _, row := range r.table {
		for _, cell := range row {
			if cell.OK {
				present++
			}
		}
	}
	for j, arm := range r.arms {
		runs, trials := len(g.y), 0
		if r.droppedAt[j] > 0 {
			runs = min(runs, r.droppedAt[j])
		}
		for b := range g.y {
			if g.mask[b][j] {
				trials++
			}
		}
		planned += runs
		if trials < FirstAnalysis && runs >= FirstAnalysis {
			add(WarnUntested, "See why its trials failed.",
				"%s: %d of %d trials succeeded, too few to judge it.", arm.Name, trials, runs)
		}
	}
	if missing := planned - result.Trials; missing > 0 {
		add(WarnMissing, "See why: a layout that fails under load is not a recommendation.",
			"%d of %d trials are missing or failed.", missing, planned)
	}
	if unused := present - result.Trials; unused > 0 {
		add(WarnUnused, "To use more of them, judge with a smaller --margin, a higher --confidence, --goal verdicts or another --baseline.",
			"%d trials were not used: they came after their layout was dropped, after the decision, or after block %d.",
			unused, r.cfg.MaxBlocks)
	}
}

// reuses reports whether any layout has several trials on the same build.
func (r *replay) reuses(g grid) bool {
	v := newBuilds(r.table, g)
	return v.anyReused()
}

// warnBuilds warns of the effects of reused builds.
func (r *replay) warnBuilds(analysis Analysis, g grid, add adder) {
	v := newBuilds(r.table, g)
	if !v.anyReused() {
		return
	}
	var single []string
	estimable := true
	for j, arm := range r.arms {
		if v.reused[j] && v.count[j] == 1 {
			single = append(single, arm.Name)
		}
		if v.reused[j] && !finite(analysis.Estimates[j].BuildSD) {
			estimable = false
		}
	}
	on := "a single build"
	if v.copies {
		on += " and copies of it"
	}
	switch {
	case len(single) > 0:
		add(WarnOneBuild, "Build each layout at least 3 times, spread over the blocks (--builds 3).",
			"%s: measured on %s only; another build of the same layout can differ.", strings.Join(single, ", "), on)
	case !estimable:
		add(WarnBuilds, "Spread at least 3 builds of each layout over the blocks (--builds 3).",
			"Builds were reused, and how much they differ is not known yet: the intervals leave it out.")
	}
}
