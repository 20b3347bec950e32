package verdict

import "math"

// futile: even estimates that are κ standard errors luckier could not prove
// anything at the last block. Standard errors are taken to shrink with the
// root of the number of blocks.
func (s *scene) futile(look Look) bool {
	last := s.atLast()
	if s.cfg.Goal == GoalVerdicts {
		for j, e := range look.Estimates {
			if s.arms[j].Twin == "" && s.tested(j) && !e.Resolved && (!e.Known() || last.resolvable(e, s.cfg, last.half(s, j, e))) {
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
		lo := e.Effect + s.cfg.Kappa*e.SE - last.half(s, j, e)
		allowed := s.cfg.left(lo)
		if last.resolvable(e, s.cfg, last.half(s, j, e)) && !(s.bestRegret(j, last) > allowed) {
			return false
		}
	}
	return true
}

// outlook is the state at the last block: the factor by which standard errors will shrink.
type outlook struct{ shrink float64 }

func (s *scene) atLast() outlook {
	return outlook{shrink: math.Sqrt(float64(s.n) / float64(s.cfg.MaxBlocks))}
}

// half is half the width that the interval of arm j will have. The skewness of few differences does not forecast the
// skewness of many.
func (o outlook) half(s *scene, j int, e Estimate) float64 {
	c, _, _, _ := s.difference(j, s.cfg.Baseline)
	two, _ := s.boundsOf(c, s.cfg.MaxBlocks)
	return c.critical(two) * o.shrink * e.SE
}

// resolvable: a lucky estimate could still be resolved.
func (o outlook) resolvable(e Estimate, cfg Config, half float64) bool {
	luck := cfg.Kappa * e.SE
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
		_, one := s.boundsOf(c, s.cfg.MaxBlocks)
		bound = max(bound, c.effect-s.cfg.Kappa*c.se()+c.critical(one)*last.shrink*c.se())
	}
	return bound
}

// A forecast takes so many blocks and residual degrees of freedom.
const (
	forecastBlock   = 3
	forecastFreedom = 8
)

// ForecastFrom is the block from which on the noise of so many arms is known well enough for a
// forecast (rules 3).
func ForecastFrom(arms int) int {
	n := forecastBlock
	for (n-1)*(arms-1) < forecastFreedom {
		n++
	}
	return n
}

// forecast of about how many blocks in total would resolve a difference of
// the margin: n ≈ 2(c₁·s/δ)², and since rules 3 BlocksToTell. What more blocks cannot reduce, the difference
// between reused builds, uses up part of the margin. 0 = cannot be foretold.
func (s *scene) forecast() int {
	if !s.fitted {
		return 0
	}
	_, c := s.bounds.at(s.cfg.MaxBlocks)
	room := s.cfg.Margin * s.cfg.Margin
	if inflated := s.spread().inflated; inflated > 0 {
		var heaviest float64
		for j := range s.arms {
			heaviest = max(heaviest, s.builds.weight(j, s.cfg.Baseline))
		}
		room -= c * c * inflated * heaviest
	}
	if s.cfg.Rules > 2 {
		return s.toTell(room)
	}
	blocks := math.Ceil(2 * c * c * s.fit.pooled * s.probe.scale / room)
	if room <= 0 || !(blocks < math.MaxInt32) {
		return 0
	}
	return max(int(blocks), s.n+1)
}

// toTell is BlocksToTell by the noise so far, with what is left of the squared margin. 0 means too little is known,
// or more than can be planned.
func (s *scene) toTell(room float64) int {
	if room <= 0 || s.n < ForecastFrom(len(s.arms)) {
		return 0
	}
	n, err := BlocksToTell(math.Sqrt(s.fit.pooled*s.probe.scale), len(s.arms), s.cfg.Confidence, math.Sqrt(room))
	if err != nil || n == 0 {
		return 0
	}
	return max(n, s.n+1)
}
