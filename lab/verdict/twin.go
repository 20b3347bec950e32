package verdict

import "fmt"

// AAFailed returns the baseline's twin (the baseline under another name) if a difference is claimed for it, and the
// first analysis that claimed it. It returns false if there is none. At a confidence of 95 % this happens to at most 5 % of
// sound experiments, over all arms and analyses.
func (r Result) AAFailed() (arm int, at Analysis, failed bool) {
	for _, analysis := range r.Analyses {
		for j, e := range analysis.Estimates {
			if e.Mark == MarkAAFails {
				return j, analysis, true
			}
		}
	}
	return -1, Analysis{}, false
}

// aaSentence phrases the result of the A/A check that a twin arm makes.
func aaSentence(r Result, arm int) string {
	analysis, _ := r.Last()
	e, name, twin := analysis.Estimates[arm], r.Arms[arm].Name, r.Arms[arm].Twin
	switch {
	case !e.Known():
		return fmt.Sprintf("%s: too few trials for the A/A check (%s).", name, plural(e.N, "trial"))
	case twin != r.Arms[r.Config.Baseline].Name:
		return fmt.Sprintf("%s is %s once more; against another baseline it checks nothing.", name, twin)
	}
	if _, at, failed := r.AAFailed(); failed {
		e, analysis = at.Estimates[arm], at
	}
	outcome := "holds"
	if e.Mark == MarkAAFails {
		outcome = "failed"
	}
	return fmt.Sprintf("A/A check %s: %s is the same as %s, and measured %s (%s interval %s; %s).",
		outcome, name, twin, change(e.Effect), level(r.Config.Confidence), interval(e), plural(analysis.Block, "block"))
}
