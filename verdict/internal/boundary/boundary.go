// Package boundary finds the critical values of the sequential comparison by
// simulating experiments in which nothing differs.
package boundary

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// FirstLook is the number of blocks at the first look.
const FirstLook = 3

// Rules are what the critical values depend on beside the design.
type Rules struct {
	PriorDF  float64 // ν₀ of the moderated contrast variance
	Earned   bool    // no more of it than the table has beside the contrast's own
	Rho      float64 // of the error spending
	FirstTwo int     // two-sided values from this look on, or at the last if that is before
	FirstOf2 int     // the same of two arms, whose only difference no other confirms
	Scores   bool    // as normal scores of the same probability under Student's t
	// Safety is a factor that covers the difference between the least-squares fit
	// simulated here and what is used on data: the robust fit, by rules 2 of those arms
	// only that look alike.
	Safety float64
}

// Rules1 are those of STATISTICS.md ("Fit" and "Boundaries"), Rules2 their
// successors: docs/statistics.md says why.
var (
	Rules1 = Rules{PriorDF: 4, Rho: 1.5, FirstTwo: FirstLook, FirstOf2: FirstLook, Safety: 1.01}
	Rules2 = Rules{PriorDF: 8, Earned: true, Rho: 1, FirstTwo: 6, FirstOf2: 7, Scores: true, Safety: 1.06}
)

// prior is ν₀ after n blocks of k arms.
func (r Rules) prior(n, k int) float64 {
	if r.Earned {
		return min(r.PriorDF, float64((n-1)*(k-2)))
	}
	return r.PriorDF
}

// FirstClaim is the first look with a two-sided value.
func (r Rules) FirstClaim(nmax, k int) int {
	if k == 2 {
		return min(r.FirstOf2, nmax)
	}
	return min(r.FirstTwo, nmax)
}

// DF are the degrees of freedom of a contrast after n blocks of k arms.
func (r Rules) DF(n, k int) float64 { return r.prior(n, k) + float64(n-1) }

// Table holds the critical values of one design, one per look from block 3.
type Table struct {
	TwoSided []float64 // of max |t| against the baseline
	OneSided []float64 // of max t against the baseline
}

// Spent returns the error that may have been used up to block n of nmax:
// α(n/nmax)^ρ.
func (r Rules) Spent(alpha float64, n, nmax int) float64 {
	return alpha * math.Pow(float64(n)/float64(nmax), r.Rho)
}

// Increment is the error to be used at block n, where the first look is.
func (r Rules) Increment(alpha float64, n, nmax, first int) float64 {
	if n == first {
		return r.Spent(alpha, n, nmax)
	}
	return r.Spent(alpha, n, nmax) - r.Spent(alpha, n-1, nmax)
}

// Simulate returns a table for each nmax (at least 3) of experiments with k
// arms (at least 2), from sims simulated null experiments. It looks at one
// set of experiments block by block; each nmax keeps account of which of them
// have not yet crossed its boundary. The result depends on the arguments
// alone, not on the number of cores.
func (r Rules) Simulate(k int, nmaxes []int, alpha float64, sims int, seed uint64) []Table {
	world := newWorld(r, k, sims, seed)
	designs := make([]design, len(nmaxes))
	for i, nmax := range nmaxes {
		designs[i] = newDesign(r, nmax, sims)
	}
	for n := 1; n <= slices.Max(nmaxes); n++ {
		world.nextBlock()
		if n < FirstLook {
			continue
		}
		for i := range designs {
			designs[i].look(n, alpha, world)
		}
	}
	tables := make([]Table, len(designs))
	for i, d := range designs {
		if r.Scores {
			d.scores(k)
		}
		tables[i] = Table{TwoSided: d.two.critical, OneSided: d.one.critical}
	}
	return tables
}

// FixedN returns the critical values for a single look after n blocks, for
// each n (at least 3, ascending), without the safety factor: what looking
// often is paid with is the difference to these.
func (r Rules) FixedN(k int, ns []int, alpha float64, sims int, seed uint64) Table {
	world := newWorld(r, k, sims, seed)
	keep := int(math.Round((1 - alpha) * float64(sims)))
	var t Table
	for _, n := range ns {
		for world.n < n {
			world.nextBlock()
		}
		t.TwoSided = append(t.TwoSided, nthSmallest(world.two, keep-1))
		t.OneSided = append(t.OneSided, nthSmallest(world.one, keep-1))
	}
	return t
}

// design is one error-spending plan over the simulated experiments.
type design struct {
	rules    Rules
	nmax     int
	two, one family
}

func newDesign(r Rules, nmax, sims int) design {
	return design{rules: r, nmax: nmax, two: newFamily(r, sims), one: newFamily(r, sims)}
}

func (d *design) look(n int, alpha float64, w *world) {
	if n > d.nmax {
		return
	}
	if first := d.rules.FirstClaim(d.nmax, w.k); n < first {
		d.two.critical = append(d.two.critical, math.Inf(1))
	} else {
		d.two.spend(d.rules.Increment(alpha, n, d.nmax, first), w.two)
	}
	d.one.spend(d.rules.Increment(alpha, n, d.nmax, FirstLook), w.one)
}

// scores turns critical values into normal scores.
func (d *design) scores(k int) {
	for i := range d.two.critical {
		t := distuv.StudentsT{Sigma: 1, Nu: d.rules.DF(FirstLook+i, k)}
		for _, c := range [][]float64{d.two.critical, d.one.critical} {
			if !math.IsInf(c[i], 0) {
				c[i] = -d.rules.Safety * distuv.UnitNormal.Quantile(t.CDF(-c[i]))
			}
		}
	}
}

// family spends the error of one statistic.
type family struct {
	sims     int
	safety   float64
	inside   []int32 // experiments that have not crossed
	critical []float64
}

func newFamily(r Rules, sims int) family {
	safety := r.Safety
	if r.Scores {
		safety = 1 // it is the scores that it widens
	}
	inside := make([]int32, sims)
	for i := range inside {
		inside[i] = int32(i)
	}
	return family{sims: sims, safety: safety, inside: inside}
}

// spend finds the value that the given share of all experiments crosses at
// this look, and removes them.
func (f *family) spend(share float64, stat []float64) {
	values := make([]float64, len(f.inside))
	for i, s := range f.inside {
		values[i] = stat[s]
	}
	cross := max(1, int(math.Round(share*float64(f.sims))))
	keep := max(1, len(values)-cross)
	limit := nthSmallest(values, keep-1)
	f.critical = append(f.critical, f.safety*limit)
	f.inside = slices.DeleteFunc(f.inside, func(s int32) bool { return stat[s] > limit })
}

// nthSmallest reorders x and returns its element of rank n (from 0).
func nthSmallest(x []float64, n int) float64 {
	for lo, hi := 0, len(x)-1; lo < hi; {
		pivot := x[lo+(hi-lo)/2]
		i, j := lo, hi
		for i <= j {
			for x[i] < pivot {
				i++
			}
			for x[j] > pivot {
				j--
			}
			if i <= j {
				x[i], x[j] = x[j], x[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case n <= j:
			hi = j
		case n >= i:
			lo = i
		default:
			return x[n]
		}
	}
	return x[n]
}
