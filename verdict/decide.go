package verdict

import "math"

// leader is the candidate with the highest estimate, -1 if there is none.
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

// tolerance is the regret that a recommendation may have: the margin, or a
// share of what the leader is proven to gain.
func (s *scene) tolerance(look Look) float64 {
	l := look.Leader
	if l < 0 || l == s.cfg.Baseline || !finite(look.Estimates[l].Lo) {
		return s.cfg.Margin
	}
	return max(s.cfg.Margin, s.cfg.Gamma*look.Estimates[l].Lo)
}

// proven returns the arm that can be recommended, -1 if none yet: the
// baseline when nothing is more than the margin better; otherwise, once the
// leader is resolved and nothing is more than the tolerance better than it,
// the arm with the fewest files that is as good as the leader.
func (s *scene) proven(look Look) int {
	all, base := look.Estimates, s.cfg.Baseline
	if look.Leader < 0 || !s.anyCompared(all) {
		return -1
	}
	if all[base].Regret <= s.cfg.Margin {
		return base
	}
	leader := all[look.Leader]
	if look.Leader == base || !leader.Resolved || !(leader.Regret <= look.Tolerance) {
		return -1
	}
	best := look.Leader
	for j, e := range all {
		asGood := leader.Effect-e.Effect <= s.cfg.Margin && e.Regret <= look.Tolerance
		if s.candidate[j] && j != base && e.Resolved && asGood && s.fewer(j, best) {
			best = j
		}
	}
	return best
}

// fewer orders arms by rank, then by their place in the list.
func (s *scene) fewer(i, j int) bool {
	a, b := s.arms[i].Rank, s.arms[j].Rank
	return a < b || (a == b && i < j)
}

// anyCompared: with no arm compared there is nothing to recommend.
func (s *scene) anyCompared(all []Estimate) bool {
	for j, e := range all {
		if j != s.cfg.Baseline && e.Known() {
			return true
		}
	}
	return false
}

// stop says why measuring may stop after this look.
func (s *scene) stop(look Look) Reason {
	switch {
	case s.cfg.Goal == GoalVerdicts:
		if s.allResolved(look.Estimates) {
			return ReasonAllResolved
		}
	case look.Recommended == s.cfg.Baseline:
		return ReasonKeepBaseline
	case look.Recommended >= 0:
		return ReasonRecommend
	}
	switch {
	case s.n >= s.cfg.MaxBlocks:
		return ReasonMaxBlocks
	case s.n >= futilityFrom && s.futile(look):
		return ReasonFutile
	}
	return ReasonNone
}

func (s *scene) allResolved(all []Estimate) bool {
	for j, e := range all {
		if s.tested(j) && !e.Resolved {
			return false
		}
	}
	return s.anyCompared(all)
}

// drop takes arms out of the running that some candidate beats. Their
// intervals are frozen. The baseline keeps running, and when the goal is a
// verdict on every arm so do arms without one.
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
		if j == s.cfg.Baseline || s.candidate[j] || s.droppedAt[j] > 0 || wanted {
			continue
		}
		s.droppedAt[j] = s.n
		s.frozen[j] = e
		dropped = append(dropped, j)
	}
	return dropped
}

// beaten: some candidate is better than arm j by its one-sided bound.
func (s *scene) beaten(j int) bool {
	for i := range s.arms {
		if i == j || !s.candidate[i] {
			continue
		}
		c, _, one, ok := s.difference(j, i)
		if ok && c.effect+one*c.se() < 0 {
			return true
		}
	}
	return false
}

// mark is the verdict on arm j in a word or two.
func (r *replay) mark(look Look, j int) Mark {
	e := look.Estimates[j]
	switch {
	case j == r.cfg.Baseline:
		return MarkBaseline
	case j == look.Recommended:
		return MarkBest
	case !e.Known():
		return MarkNoData
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

// futile: even estimates that are κ standard errors luckier could not prove
// anything at the last block. Standard errors are taken to shrink with the
// root of the number of blocks.
func (s *scene) futile(look Look) bool {
	last := s.atLast()
	if s.cfg.Goal == GoalVerdicts {
		for j, e := range look.Estimates {
			if s.tested(j) && !e.Resolved && (!e.Known() || last.resolvable(e, s.cfg)) {
				return false
			}
		}
		return true
	}
	if look.Leader < 0 || !(s.bestRegret(s.cfg.Baseline, last) > s.cfg.Margin) {
		return false
	}
	for j, e := range look.Estimates {
		if j == s.cfg.Baseline || !s.candidate[j] || !s.tested(j) {
			continue
		}
		if !e.Known() {
			return false
		}
		lo := e.Effect + s.cfg.Kappa*e.SE - last.two*last.shrink*e.SE
		allowed := max(s.cfg.Margin, s.cfg.Gamma*lo)
		if last.resolvable(e, s.cfg) && !(s.bestRegret(j, last) > allowed) {
			return false
		}
	}
	return true
}

// outlook is how things will stand at the last block.
type outlook struct{ two, one, shrink float64 }

func (s *scene) atLast() outlook {
	o := outlook{shrink: math.Sqrt(float64(s.n) / float64(s.cfg.MaxBlocks))}
	o.two, o.one = s.bounds.at(s.cfg.MaxBlocks)
	return o
}

// resolvable: a lucky estimate could still be resolved.
func (o outlook) resolvable(e Estimate, cfg Config) bool {
	luck, half := cfg.Kappa*e.SE, o.two*o.shrink*e.SE
	away := math.Abs(e.Effect)+luck > half
	within := max(0, math.Abs(e.Effect)-luck)+half <= cfg.Margin
	return away || within
}

// bestRegret is the regret bound of arm j at the last block, if all goes
// well; NaN when it cannot be foretold.
func (s *scene) bestRegret(j int, last outlook) float64 {
	bound := 0.0
	for i := range s.arms {
		if i == j || !s.candidate[i] || !s.tested(i) {
			continue
		}
		c, _, _, ok := s.difference(i, j)
		if !ok {
			return math.NaN()
		}
		bound = max(bound, c.effect-s.cfg.Kappa*c.se()+last.one*last.shrink*c.se())
	}
	return bound
}

// forecast of about how many blocks in total would resolve a difference of
// the margin: n ≈ 2(c₁·s/δ)². What more blocks cannot reduce, the difference
// between reused builds, uses up part of the margin. 0 = cannot be foretold.
func (s *scene) forecast() int {
	if !s.fitted {
		return 0
	}
	_, c := s.bounds.at(s.cfg.MaxBlocks)
	room := s.cfg.Margin * s.cfg.Margin
	if s.spread.inflated > 0 {
		var heaviest float64
		for j := range s.arms {
			heaviest = max(heaviest, s.builds.weight(j, s.cfg.Baseline))
		}
		room -= c * c * s.spread.inflated * heaviest
	}
	blocks := math.Ceil(2 * c * c * s.fit.pooled * s.probe.scale / room)
	if room <= 0 || !(blocks < math.MaxInt32) {
		return 0
	}
	return max(int(blocks), s.n+1)
}
