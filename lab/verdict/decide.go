package verdict

// leader returns the candidate with the highest estimate, or −1 if there is none.
func (s *scene) leader(all []Estimate) int {
	best := -1
	for j, e := range all {
		if !s.candidate[j] || !finite(e.Effect) {
			continue
		}
		if best < 0 || e.Effect > all[best].Effect {
			best = j
		}
	}
	return best
}

// tolerance returns the worst-case loss that a recommendation may have: the margin, or a share of the leader's proven gain if
// that is more.
func (s *scene) tolerance(analysis Analysis) float64 {
	l := analysis.Leader
	if l < 0 || l == s.cfg.Baseline {
		return s.cfg.Margin
	}
	return s.cfg.left(analysis.Estimates[l].Lo)
}

// proven returns the arm that can be recommended, or −1 if there is none yet. If nothing is better than the baseline by
// more than the margin, it is the baseline. Otherwise the leader must be proven better, and nothing may be better than
// the leader by more than the tolerance. Then it is the arm with the fewest files among those proven better and as good
// as the leader.
func (s *scene) proven(analysis Analysis) int {
	all, base := analysis.Estimates, s.cfg.Baseline
	if analysis.Leader < 0 || analysis.CarryOver || analysis.Changed || s.n < s.bounds.firstClaim() || !s.anyCompared(all) {
		return -1
	}
	if all[base].WorstLoss <= s.cfg.Margin {
		return base
	}
	leader := all[analysis.Leader]
	if analysis.Leader == base || !s.better(leader) || !(leader.WorstLoss <= analysis.Tolerance) {
		return -1
	}
	best := analysis.Leader
	for j, e := range all {
		asGood := leader.Effect-e.Effect <= s.cfg.Margin && e.WorstLoss <= analysis.Tolerance
		if s.candidate[j] && j != base && s.better(e) && asGood && s.fewer(j, best) {
			best = j
		}
	}
	return best
}

// better reports whether an arm that is as good as the leader can be recommended. From rules 3 on its interval must lie
// above 0; by rules 2 it could reach below 0 within the margin.
func (s *scene) better(e Estimate) bool {
	if s.cfg.Rules < 3 {
		return e.Resolved
	}
	return e.Lo > 0
}

// fewer reports whether arm i comes before arm j: by rank (fewer files), then by position.
func (s *scene) fewer(i, j int) bool {
	a, b := s.arms[i].Rank, s.arms[j].Rank
	return a < b || (a == b && i < j)
}

// anyCompared reports whether any arm is compared with the baseline. If none is, nothing can be recommended.
func (s *scene) anyCompared(all []Estimate) bool {
	for j, e := range all {
		if j != s.cfg.Baseline && (e.Known() || s.droppedAt[j] > 0) { // dropped arms count: they were beaten, even if before their intervals
			return true
		}
	}
	return false
}

// stop returns why measuring may stop after this analysis, or ReasonNone.
func (s *scene) stop(analysis Analysis) Reason {
	last := s.n >= s.cfg.MaxBlocks
	switch {
	case !last && analysis.Changed: // more blocks cannot undo a change
		return ReasonFutile
	case !last && (analysis.CarryOver || fresh(analysis.Stalls, s.n)):
		return ReasonNone // one more block
	case s.cfg.Goal == GoalVerdicts:
		if !analysis.CarryOver && s.allResolved(analysis.Estimates) {
			return ReasonAllResolved
		}
	case analysis.Recommended == s.cfg.Baseline:
		return ReasonKeepBaseline
	case analysis.Recommended >= 0:
		return ReasonRecommend
	}
	switch {
	case last:
		return ReasonMaxBlocks
	case s.n >= futilityFrom && s.futile(analysis):
		return ReasonFutile
	}
	return ReasonNone
}

func (s *scene) allResolved(all []Estimate) bool {
	for j, e := range all {
		if s.arms[j].Twin == "" && s.tested(j) && !e.Resolved {
			return false
		}
	}
	return s.anyCompared(all)
}

// drop drops the arms that some candidate beats, and freezes their intervals. The baseline is never dropped. If the
// goal is a verdict on every arm, arms without a verdict stay too.
func (s *scene) drop(all []Estimate) []int {
	var beaten []int
	for j := range s.arms {
		if s.candidate[j] && s.beaten(j) {
			beaten = append(beaten, j)
		}
	}
	for _, j := range beaten {
		s.candidate[j] = false
	}
	dropped := []int{}
	for j, e := range all {
		wanted := s.cfg.Goal == GoalVerdicts && !e.Resolved
		if j == s.cfg.Baseline || s.candidate[j] || s.droppedAt[j] > 0 || wanted || s.arms[j].Twin != "" {
			continue
		}
		s.droppedAt[j] = s.n
		s.frozen[j] = e
		dropped = append(dropped, j)
	}
	return dropped
}

// beaten reports whether some candidate is better than arm j by its one-sided bound.
func (s *scene) beaten(j int) bool {
	for i := range s.arms {
		if i == j || !s.candidate[i] {
			continue
		}
		c, _, one, ok := s.difference(j, i)
		if ok && c.effect+c.above(one) < 0 {
			return true
		}
	}
	return false
}

// mark returns the verdict on arm j in a word or two.
func (r *replay) mark(analysis Analysis, j int) Mark {
	e := analysis.Estimates[j]
	switch {
	case j == r.cfg.Baseline:
		return MarkBaseline
	case j == analysis.Recommended:
		return MarkBest
	case !e.Known() && finite(e.Effect):
		return MarkUndecided // before the first intervals
	case !e.Known():
		return MarkNoData
	case r.arms[j].Twin == r.arms[r.cfg.Baseline].Name && (e.Lo > 0 || e.Hi < 0):
		return MarkAAFails
	case r.arms[j].Twin == r.arms[r.cfg.Baseline].Name:
		return MarkAAHolds
	case e.Lo >= -r.cfg.Margin && e.Hi <= r.cfg.Margin:
		return MarkWithin
	case e.Lo > 0:
		return MarkBetter
	case e.Hi < 0:
		return MarkWorse
	case !r.candidate[j]:
		return MarkNotBest
	}
	return MarkUndecided
}
