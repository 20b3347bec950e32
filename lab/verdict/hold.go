package verdict

import "math"

// limits holds the tightest limits of an arm so far (rules 3). The limits of all analyses hold together, so the tightest
// of them hold too.
type limits struct{ lo, hi, worstLoss float64 }

var unlimited = limits{math.Inf(-1), math.Inf(1), math.Inf(1)}

// hold replaces each running arm's limits by the tightest of all analyses. It caps them by the most that can be gained
// over the baseline, which holds together with them. If limits of an arm cross, the effect has changed between analyses.
// Hold then returns true, and the estimates keep this analysis's own limits.
func (s *scene) hold(all []Estimate) (changed bool) {
	bounded := s.allTested()
	for j, e := range all {
		if s.droppedAt[j] > 0 {
			continue
		}
		h := &s.held[j]
		if e.Known() {
			h.lo, h.hi = max(h.lo, e.Lo), min(h.hi, e.Hi)
		}
		if bounded && finite(e.WorstLoss) {
			h.worstLoss = min(h.worstLoss, e.WorstLoss)
		}
	}
	most := s.held[s.cfg.Baseline].worstLoss
	for j := range all {
		changed = changed || s.droppedAt[j] == 0 && j != s.cfg.Baseline && s.arms[j].Twin == "" && s.held[j].lo > min(s.held[j].hi, most)
	}
	if changed {
		return true
	}
	for j := range all {
		if e := &all[j]; s.droppedAt[j] == 0 {
			s.tighten(e, j, most)
		}
	}
	return false
}

func (s *scene) tighten(e *Estimate, j int, most float64) {
	h := s.held[j]
	if finite(e.WorstLoss) && finite(h.worstLoss) {
		e.WorstLoss = h.worstLoss
	}
	if j == s.cfg.Baseline || !e.Known() {
		return
	}
	e.Lo, e.Hi = h.lo, h.hi
	if s.arms[j].Twin == "" {
		e.Hi = min(e.Hi, most)
	}
	e.Resolved = s.resolved(e.Lo, e.Hi)
}

// allTested reports whether the bounds on possible gains cover every candidate.
func (s *scene) allTested() bool {
	for j := range s.arms {
		if s.candidate[j] && !s.tested(j) {
			return false
		}
	}
	return true
}

// atLimits moves estimates outside the limits of earlier analyses to those limits.
func atLimits(all []Estimate) {
	for j, e := range all {
		if e.Known() && finite(e.Effect) {
			all[j].Effect = min(max(e.Effect, e.Lo), e.Hi)
		}
	}
}
