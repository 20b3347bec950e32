package verdict

import (
	"math"
	"sync"
)

// scene holds the data of one analysis.
type scene struct {
	*replay
	grid        // adjusted for the calibration, if there is one
	raw    grid // as measured
	n      int
	fit    twoWay
	fitted bool
	noise  noise // rules 2
	builds builds
	spread func() between
	probe  calibration
	trials []int            // per arm
	own    []spreadOfBuilds // per arm; nil until it is computed
	grain  grain            // from rules 3 on
	levels []float64        // per arm, raw: from rules 3 on
	pairs  [][]pair         // [i][j]; nil until a pair of i is computed
	groups groups           // scratch of groupMeans
}

// pair caches the contrast of two arms, which estimates, worst-case losses and dropping all need.
type pair struct {
	contrast
	known bool
}

func (r *replay) scene(n int) *scene {
	s := &scene{replay: r, raw: r.grid(n), n: n, trials: make([]int, len(r.arms))}
	s.grid, s.probe = calibrate(r.table, s.raw)
	if r.cfg.Rules == 1 {
		s.fit, s.fitted = fitTwoWay(s.grid, floorShare)
	} else {
		s.fit, s.fitted = fitHuber(s.grid)
	}
	s.builds = newBuilds(r.table, s.grid)
	s.spread = func() between { return between{variance: math.NaN()} }
	if s.fitted && r.cfg.Rules > 1 {
		s.noise = s.judgeNoise(r.running())
	}
	if s.fitted && s.builds.anyReused() {
		// Bonferroni over the contrasts with the baseline.
		upper := 1 - (1-r.cfg.Confidence)/2/float64(len(r.arms)-1)
		s.spread = sync.OnceValue(func() between { return estimateBetween(s.builds, s.grid, s.fit.solver, upper) })
		go s.spread() // takes a third of the analysis; the result is needed only at its end
	}
	each(s.grid, func(_, j int) { s.trials[j]++ })
	if r.cfg.Rules > 2 {
		s.grain = grainOf(r.table, s.raw)
		for j := range r.arms {
			s.levels = append(s.levels, s.raw.level(j))
		}
	}
	return s
}

// tested reports whether arm j has an estimate, or a trial in the latest block. Verdicts neither wait for untested arms
// nor include them.
func (s *scene) tested(j int) bool {
	return s.trials[j] >= FirstAnalysis || s.mask[s.n-1][j]
}

// difference returns the contrast of arms i and j, with its critical values. If trials are missing, the pair has fewer
// common blocks than there are analyses. Then the wider boundary of the analysis at that many blocks applies; before the first
// analysis ok is false. From rules 3 on, differences that do not vary at all have no critical values (NaN). From rules 3
// on, limits are also never nearer to the estimate than values can be distinguished.
func (s *scene) difference(i, j int) (c contrast, two, one float64, ok bool) {
	if !s.fitted {
		return contrast{}, 0, 0, false
	}
	if s.pairs == nil {
		s.pairs = make([][]pair, len(s.arms))
	}
	if s.pairs[i] == nil {
		s.pairs[i] = make([]pair, len(s.arms))
	}
	p := &s.pairs[i][j]
	switch {
	case p.known:
	case s.pairs[j] != nil && s.pairs[j][i].known:
		*p = pair{s.pairs[j][i].reversed(), true}
	default:
		*p = pair{s.contrast(i, j), true}
	}
	c = p.contrast
	two, one = s.boundsOf(c, c.common)
	return c, two, one, c.common >= FirstAnalysis && finite(c.variance)
}

func (s *scene) contrast(i, j int) (c contrast) {
	if s.cfg.Rules == 1 {
		c = s.fit.contrast(i, j)
		c.variance = s.probe.apply(c.variance, s.fit.pooled, i, j)
		if inflated := s.spread().inflated; inflated > 0 {
			c.variance += inflated * s.builds.weight(i, j)
		}
		return c
	}
	c = s.noise.contrast(s.grid, i, j)
	c.variance = s.probe.apply(c.variance, s.fit.pooled, i, j)
	c = s.perBuild(c, i, j)
	if s.cfg.Rules > 2 {
		c.nearest = s.grain.between(s.levels[i], s.levels[j])
	}
	return c
}

// boundsOf returns the critical values of a contrast at n blocks. They are NaN if nothing varies.
func (s *scene) boundsOf(c contrast, n int) (two, one float64) {
	switch {
	case s.cfg.Rules > 2 && c.variance < rounding:
		return math.NaN(), math.NaN()
	case c.own:
		return s.bounds.ownAt(n)
	}
	return s.bounds.at(n)
}

// estimates returns the estimates of all arms, without the parts that depend on the decision.
func (s *scene) estimates() []Estimate {
	all := make([]Estimate, len(s.arms))
	for j := range all {
		e := s.estimate(j)
		switch {
		case s.droppedAt[j] > 0:
			was := s.frozen[j]
			e.SE, e.Lo, e.Hi = was.SE, was.Lo, was.Hi
		default:
			e.Alive = true
			e.WorstLoss = s.worstLoss(j)
		}
		e.Resolved = j == s.cfg.Baseline || s.resolved(e.Lo, e.Hi)
		all[j] = e
	}
	for j := range all {
		if all[j].N > 0 && s.builds.reused[j] {
			all[j].BuildSD = math.Sqrt(s.spread().variance)
		}
	}
	return all
}

func (s *scene) estimate(j int) Estimate {
	nan := math.NaN()
	e := Estimate{
		N: s.trials[j], Effect: nan, SE: nan, Lo: nan, Hi: nan, WorstLoss: nan, Typical: nan,
		RawEffect: s.raw.rawEffect(j, s.cfg.Baseline),
		Builds:    s.builds.count[j], BuildSD: nan,
	}
	if s.trials[j] == 0 {
		return e
	}
	if s.fitted {
		e.Typical = s.typical(j)
		for b := range s.fit.clipped {
			if s.fit.clipped[b][j] {
				e.DownWeighted++
			}
		}
	}
	if j == s.cfg.Baseline {
		e.Effect, e.SE, e.Lo, e.Hi = 0, 0, 0, 0
		return e
	}
	if c, two, _, ok := s.difference(j, s.cfg.Baseline); ok {
		e.Effect, e.SE = c.effect, c.se()
		if finite(two) {
			e.Lo, e.Hi = e.Effect-c.below(two), e.Effect+c.above(two)
		}
	}
	return e
}

// typical returns the throughput of arm j in an average block, even if the arm did not run in every block.
func (s *scene) typical(j int) float64 {
	var sum, n float64
	for b, mask := range s.mask {
		for _, present := range mask {
			if present {
				sum += s.fit.block[b]
				n++
				break
			}
		}
	}
	return math.Exp(sum/n + s.fit.arm[j])
}

// resolved reports whether the interval excludes 0 or lies within ± margin.
func (s *scene) resolved(lo, hi float64) bool {
	return lo > 0 || hi < 0 || (lo >= -s.cfg.Margin && hi <= s.cfg.Margin)
}

// worstLoss returns a bound on how much better than arm j any candidate is. It returns NaN if a tested candidate has no
// such bound.
func (s *scene) worstLoss(j int) float64 {
	if !s.fitted || s.trials[j] == 0 {
		return math.NaN()
	}
	bound := 0.0
	for i := range s.arms {
		if i == j || !s.candidate[i] || !s.tested(i) {
			continue
		}
		c, _, one, ok := s.difference(i, j)
		if !ok {
			return math.NaN()
		}
		bound = max(bound, c.effect+c.above(one))
	}
	return bound
}

// largestDifference returns the largest difference from the baseline that any interval allows: the X of "no difference
// larger than X". It returns NaN if a tested arm has no interval.
func (s *scene) largestDifference(all []Estimate) float64 {
	largest := math.NaN()
	for j, e := range all {
		switch {
		case j == s.cfg.Baseline || !s.tested(j) || s.arms[j].Twin != "":
		case !e.Known():
			return math.NaN()
		default:
			limit := max(math.Abs(e.Lo), math.Abs(e.Hi))
			if !(limit <= largest) {
				largest = limit
			}
		}
	}
	return largest
}
