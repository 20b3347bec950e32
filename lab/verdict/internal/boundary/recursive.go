package boundary

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Stage is a part of an experiment with a planned maximum of blocks. The first stage begins at block 0. Each further
// stage begins at the block after which the experiment was extended.
type Stage struct{ After, MaxBlocks int }

// Spent returns the share of the error that may be used up to block n. A stage spends all but Kept of what the earlier
// stages have left, by (n/N)^rho. What was spent before an extension stays spent.
func (r Rules) Spent(rho float64, stages []Stage, n int) float64 {
	sum := 0.0
	for i, s := range stages {
		to := min(n, s.MaxBlocks)
		if i+1 < len(stages) {
			to = min(to, stages[i+1].After)
		}
		if to > s.After {
			sum += (1 - r.Kept) * (1 - sum) * math.Pow(float64(to-s.After)/float64(s.MaxBlocks-s.After), rho)
		}
	}
	return sum
}

// Integrate returns the critical values of experiments with k arms (at least 2) up to the last stage's maximum of
// blocks, as normal scores. Critical values of a pair come from recursive integration of a random walk with normal
// steps (Armitage, McPherson and Rowe 1969). The score of Student's t with each analysis's degrees of freedom replaces the
// walk's score (Jennison and Turnbull 2000, ch. 11). Comparisons that share an error each spend Dunnett's share of it;
// pairs judged by their own spread spend Bonferroni's. Tests compare the result with simulated experiments.
func (r Rules) Integrate(k int, stages []Stage, alpha float64) Table {
	first, last, others := r.First(k), stages[len(stages)-1].MaxBlocks, float64(k-1)
	var t Table
	for _, f := range []struct {
		alpha, rho float64
		sides      int
		own        bool
		to         *[]float64
	}{
		{r.Share * alpha, r.Rho, 2, false, &t.TwoSided}, {r.ShareOne * alpha, r.RhoOne, 1, false, &t.OneSided},
		{r.Share * alpha, r.Rho, 2, true, &t.OwnTwoSided}, {r.ShareOne * alpha, r.RhoOne, 1, true, &t.OwnOneSided},
	} {
		of := 1 / others
		if !f.own && k > 2 {
			of = dunnett(f.alpha, k-1, f.sides) / f.alpha
		}
		*f.to = pairBoundary(f.sides, first, last, func(n int) float64 { return integrated * of * f.alpha * r.Spent(f.rho, stages, n) })
		if f.own {
			continue
		}
		for i, c := range *f.to {
			(*f.to)[i] = r.asScore(c, FirstAnalysis+i, k)
		}
	}
	return t
}

// integrated is the share of the error that goes into the integration. Scores of Student's t depend less on the block
// before than a walk's scores do. So simulated experiments cross a little more often than the walk.
const integrated = 0.87

// asScore converts the score of a contrast whose variance is moderated by the pooled one. It returns the score for the
// degrees of freedom that DF returns. These are fewer than the contrast has, because the pooled variance has its own.
func (r Rules) asScore(c float64, n, k int) float64 {
	prior, own := r.prior(n, k), float64(n-1)
	if math.IsInf(c, 0) || prior == 0 {
		return c
	}
	w, pooled := prior/(prior+own), own*float64(k-1)
	variance := w*w/pooled + (1-w)*(1-w)/own + 2*w*(1-w)/pooled
	has := distuv.StudentsT{Sigma: 1, Nu: 1 / variance}.Quantile(distuv.UnitNormal.Survival(c))
	return -distuv.UnitNormal.Quantile(distuv.StudentsT{Sigma: 1, Nu: prior + own}.CDF(has))
}

// dunnett returns the error for each of m comparisons with a common arm so that all together have the error alpha. The
// comparisons correlate by a half.
func dunnett(alpha float64, m, sides int) float64 {
	lo, hi := alpha/float64(m), alpha
	for range 30 {
		mid := math.Sqrt(lo * hi)
		if anyOf(mid, m, sides) > alpha {
			hi = mid
		} else {
			lo = mid
		}
	}
	return lo
}

// anyOf returns the probability that any of m comparisons exceeds the limit that each exceeds with probability a.
func anyOf(a float64, m, sides int) float64 {
	c := -distuv.UnitNormal.Quantile(a / float64(sides))
	sum, all := 0.0, 0.0
	for i := -80; i <= 80; i++ { // integrate over the common arm, in standard deviations
		w := float64(i) / 10
		outside := distuv.UnitNormal.Survival(math.Sqrt2*c + w)
		if sides == 2 {
			outside += distuv.UnitNormal.CDF(-math.Sqrt2*c + w)
		}
		weight := math.Exp(-w * w / 2)
		sum, all = sum+weight*-math.Expm1(float64(m)*math.Log1p(-min(outside, 1-1e-16))), all+weight
	}
	return sum / all
}

// Grid of the walk's density, which advances in steps of one block.
const (
	gridWidth = 0.2
	kernelEnd = 8 / gridWidth // beyond this a step's density is negligible
	widest    = 8.5           // scores beyond this are dropped
)

// walk is the density of a random walk that has not crossed, from −reach to reach, in grid widths.
type walk struct {
	density []float64
	half    int // index of the middle of density
	reach   int // the density is 0 beyond this
}

// pairBoundary returns the normal scores, one per analysis from block 3; they are infinite before the first analysis. A walk
// crosses a score for the first time at block n with the probability by which spent grows there.
func pairBoundary(sides, first, blocks int, spent func(n int) float64) []float64 {
	w := walk{half: int(widest*math.Sqrt(float64(max(blocks, first)))/gridWidth) + 1}
	w.density = make([]float64, 2*w.half+1)
	w.reach = w.half
	start := math.Sqrt(float64(first))
	for i := range w.density {
		w.density[i] = distuv.UnitNormal.Prob(float64(i-w.half)*gridWidth/start) / start
	}
	var kernel [kernelEnd + 1]float64
	for i := range kernel {
		kernel[i] = distuv.UnitNormal.Prob(float64(i)*gridWidth) * gridWidth
	}
	var out []float64
	for n := FirstAnalysis; n <= blocks; n++ {
		if n < first {
			out = append(out, math.Inf(1))
			continue
		}
		increment := spent(n)
		if n > first {
			increment -= spent(n - 1)
			w.step(kernel[:])
		}
		out = append(out, w.cut(increment/float64(sides), sides)/math.Sqrt(float64(n)))
	}
	return out
}

// step adds a normal variable to the walk.
func (w *walk) step(kernel []float64) {
	was := w.density
	from, to := w.half-w.reach, w.half+w.reach
	w.reach = min(w.reach+len(kernel)-1, w.half)
	w.density = make([]float64, len(was))
	for i := w.half - w.reach; i <= w.half+w.reach; i++ {
		sum := 0.0
		for j := max(from, i-len(kernel)+1); j <= min(to, i+len(kernel)-1); j++ {
			sum += kernel[max(i-j, j-i)] * was[j]
		}
		w.density[i] = sum
	}
}

// cut returns the limit beyond which the upper tail of the walk has the given mass, and removes that tail. With two
// sides it also removes the lower tail. The mass of a cell counts as spread evenly over its width.
func (w *walk) cut(mass float64, sides int) float64 {
	beyond, i := 0.0, w.half+w.reach
	for i > w.half && beyond+w.density[i]*gridWidth < mass {
		beyond += w.density[i] * gridWidth
		i--
	}
	part := 0.0
	if cell := w.density[i] * gridWidth; cell > 0 {
		part = min(1, (mass-beyond)/cell)
	}
	end := len(w.density) - 1
	for j := i + 1; j <= w.half+w.reach; j++ {
		w.density[j] = 0
		if sides == 2 {
			w.density[end-j] = 0
		}
	}
	w.density[i] *= 1 - part
	if sides == 2 {
		w.density[end-i] *= 1 - part
		w.reach = i - w.half
	}
	return (float64(i-w.half) + 0.5 - part) * gridWidth
}
