package verdict

import "math"

// futile reports whether nothing could be proven at the last block, even if estimates were κ standard errors luckier.
// It assumes that standard errors shrink with the square root of the number of blocks.
func (s *scene) futile(analysis Analysis) bool {
	last := s.atLast()
	if s.cfg.Goal == GoalVerdicts {
		for j, e := range analysis.Estimates {
			if s.arms[j].Twin == "" && s.tested(j) && !e.Resolved && (!e.Known() || last.resolvable(e, s.cfg, last.half(s, j, e))) {
				return false
			}
		}
		return true
	}
	if analysis.Leader < 0 || !(s.leastLoss(s.cfg.Baseline, last) > s.cfg.Margin) {
		return false
	}
	for j, e := range analysis.Estimates {
		if j == s.cfg.Baseline || !s.candidate[j] || !s.tested(j) {
			continue
		}
		if !e.Known() {
			return false
		}
		lo := e.Effect + s.cfg.Kappa*e.SE - last.half(s, j, e)
		allowed := s.cfg.left(lo)
		if last.resolvable(e, s.cfg, last.half(s, j, e)) && !(s.leastLoss(j, last) > allowed) {
			return false
		}
	}
	return true
}

// outlook holds the factor by which standard errors will shrink until the last block.
type outlook struct{ shrink float64 }

func (s *scene) atLast() outlook {
	return outlook{shrink: math.Sqrt(float64(s.n) / float64(s.cfg.MaxBlocks))}
}

// half returns half the width that the interval of arm j will have. It ignores skewness, because the skewness of few
// differences does not predict the skewness of many.
func (o outlook) half(s *scene, j int, e Estimate) float64 {
	c, _, _, _ := s.difference(j, s.cfg.Baseline)
	two, _ := s.boundsOf(c, s.cfg.MaxBlocks)
	return c.critical(two) * o.shrink * e.SE
}

// resolvable reports whether the estimate could be resolved with luck.
func (o outlook) resolvable(e Estimate, cfg Config, half float64) bool {
	luck := cfg.Kappa * e.SE
	away := math.Abs(e.Effect)+luck > half
	within := max(0, math.Abs(e.Effect)-luck)+half <= cfg.Margin
	return away || within
}

// leastLoss returns the worst-case loss of arm j at the last block, with luck. It returns NaN if the bound cannot be
// predicted.
func (s *scene) leastLoss(j int, last outlook) float64 {
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

// Blocks and residual degrees of freedom that a forecast needs.
const (
	forecastBlock   = 3
	forecastFreedom = 8
)

// ForecastFrom returns the first block with a forecast for that many arms: the noise is then known well enough (rules
// 3).
func ForecastFrom(arms int) int {
	n := forecastBlock
	for (n-1)*(arms-1) < forecastFreedom {
		n++
	}
	return n
}

// forecast returns about how many blocks in total would resolve a difference of a margin, log scale: n ≈ 2(c₁·s/δ)², and from
// rules 3 on BlocksToTell. More blocks cannot reduce the difference between reused builds, which uses up part of the
// margin. It returns 0 if there is no forecast.
func (s *scene) forecast(margin float64) int {
	if !s.fitted {
		return 0
	}
	_, c := s.bounds.at(s.cfg.MaxBlocks)
	remaining := margin * margin
	if inflated := s.spread().inflated; inflated > 0 {
		var heaviest float64
		for j := range s.arms {
			heaviest = max(heaviest, s.builds.weight(j, s.cfg.Baseline))
		}
		remaining -= c * c * inflated * heaviest
	}
	if s.cfg.Rules > 2 {
		return s.toTell(remaining)
	}
	blocks := math.Ceil(2 * c * c * s.fit.pooled * s.probe.scale / remaining)
	if remaining <= 0 || !(blocks < math.MaxInt32) {
		return 0
	}
	return max(int(blocks), s.n+1)
}

// toTell returns BlocksToTell for the noise so far and the rest of the squared margin. It returns 0 if too little is
// known, or if more blocks are needed than can be planned.
func (s *scene) toTell(remaining float64) int {
	if remaining <= 0 || s.n < ForecastFrom(len(s.arms)) {
		return 0
	}
	n, err := BlocksToTell(math.Sqrt(s.fit.pooled*s.probe.scale), len(s.arms), s.cfg.Confidence, math.Sqrt(remaining))
	if err != nil || n == 0 {
		return 0
	}
	return max(n, s.n+1)
}
