// Package boundary finds the critical values of the sequential comparison. It simulates experiments in which nothing
// differs, or, by rules 3, integrates their distribution.
package boundary

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// FirstAnalysis is the number of blocks at the first analysis.
const FirstAnalysis = 3

// Rules holds the inputs of the critical values that do not depend on a design.
type Rules struct {
	PriorDF float64 // ν₀ of the moderated contrast variance
	Pooled  int     // number of layouts from which a variance is pooled; with fewer, ν₀ is 0
	Earned  bool    // ν₀ is at most what the table has in addition to the contrast's own degrees of freedom
	Rho     float64 // exponent of the error spending, of two-sided values
	RhoOne  float64 // Rho of the one-sided values
	// First returns the first analysis with a two-sided value, by the number of layouts. A design that ends earlier has the
	// value at its last analysis.
	First  func(k int) int
	Scores bool // critical values are normal scores of equal probability under Student's t; pairs with their own spread have others
	// Share is the share of the error that two-sided values may use if all noise is normal and equal.
	Share float64
	// ShareOne is the share of the error for one-sided values if Kept is set. Otherwise they may use all of it.
	ShareOne float64
	// Kept is the share of the error that a plan keeps for extensions of the experiment. If it is above 0, values come
	// from integration (Integrate), and there are none before First. If it is 0, values come from simulation.
	Kept float64
	// Safety is a factor that covers the difference between the least-squares fit simulated here and the robust fit used
	// on data.
	Safety float64
}

// Rules1 are the rules of docs/statistics-rules.md ("Fit" and "Boundaries"). Rules2 and Rules3 are their successors,
// justified in docs/statistics-rules.md. By rules 3 two-sided limits and one-sided bounds hold together; each have half
// of the error.
var (
	Rules1 = Rules{PriorDF: 4, Rho: 1.5, RhoOne: 1.5, First: func(int) int { return FirstAnalysis }, Share: 1, Safety: 1.01}
	Rules2 = Rules{PriorDF: 8, Pooled: 4, Earned: true, Rho: 1.5, RhoOne: 1, First: firstOf2, Scores: true, Share: 0.5, Safety: 1}
	Rules3 = Rules{PriorDF: 8, Pooled: 4, Earned: true, Rho: 1.5, RhoOne: 1, First: firstOf2, Scores: true,
		Share: 0.5, ShareOne: 0.5, Kept: 0.25, Safety: 1}
)

// firstOf2 returns the first analysis of rules 2 and 3 for k layouts. If chance makes each trial of a layout fast or slow,
// all its trials are in the same state in one of 32 experiments after 6 blocks, and in one of 64 after 7. With 4 or 5 layouts,
// looking after 6 blocks leaves enough of the error to the others. With more there are too many layouts, and with fewer
// the usual noise cannot be estimated.
func firstOf2(k int) int {
	if k == 4 || k == 5 {
		return 6
	}
	return 7
}

// prior returns ν₀ after n blocks of k arms.
func (r Rules) prior(n, k int) float64 {
	switch {
	case k < r.Pooled:
		return 0
	case r.Earned:
		return min(r.PriorDF, float64((n-1)*(k-2)))
	}
	return r.PriorDF
}

// FirstClaim returns the first analysis with a two-sided value. By rules with values from integration, a shorter plan has
// no such analysis.
func (r Rules) FirstClaim(nmax, k int) int {
	if r.Kept > 0 {
		return r.First(k) // a shorter plan has estimates only
	}
	return min(r.First(k), nmax)
}

// DF returns the degrees of freedom of a contrast after n blocks of k arms.
func (r Rules) DF(n, k int) float64 { return r.prior(n, k) + float64(n-1) }

// Table holds the critical values of one design, one per analysis from block 3.
type Table struct {
	TwoSided []float64 // of max |t| against the baseline
	OneSided []float64 // of max t against the baseline
	// The same for a pair judged by its own spread. Each such pair may use only its share of the error, whatever the
	// others do. Empty means there are no such pairs.
	OwnTwoSided, OwnOneSided []float64
}

// spent returns the error that may be used up to block n of nmax: α(n/nmax)^ρ.
func spent(alpha, rho float64, n, nmax int) float64 {
	return alpha * math.Pow(float64(n)/float64(nmax), rho)
}

// Increment returns the error to use at block n, if the first analysis is at first.
func Increment(alpha, rho float64, n, nmax, first int) float64 {
	if n == first {
		return spent(alpha, rho, n, nmax)
	}
	return spent(alpha, rho, n, nmax) - spent(alpha, rho, n-1, nmax)
}

// Simulate returns a table for each nmax (at least 3) of experiments with k arms (at least 2), from sims simulated null
// experiments. It looks at one set of experiments block by block. Each nmax records which of these have not yet crossed
// its boundary. The result depends only on the arguments, not on the number of cores.
func (r Rules) Simulate(k int, nmaxes []int, alpha float64, sims int, seed uint64) []Table {
	tables := r.simulate(k, r.First(k), nmaxes, alpha, sims, seed)
	if !r.Scores {
		return tables
	}
	for i, own := range r.simulate(2, r.First(k), nmaxes, alpha/float64(k-1), sims, seed) {
		tables[i].OwnTwoSided, tables[i].OwnOneSided = own.TwoSided, own.OneSided
	}
	return tables
}

func (r Rules) simulate(k, first int, nmaxes []int, alpha float64, sims int, seed uint64) []Table {
	world := newWorld(r, k, sims, seed)
	designs := make([]design, len(nmaxes))
	for i, nmax := range nmaxes {
		designs[i] = newDesign(r, nmax, min(first, nmax), sims)
	}
	for n := 1; n <= slices.Max(nmaxes); n++ {
		world.nextBlock()
		if n < FirstAnalysis {
			continue
		}
		for i := range designs {
			designs[i].analyse(n, alpha, world)
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

// design is one error-spending plan over the simulated experiments.
type design struct {
	rules       Rules
	nmax, first int
	two, one    operation
}

func newDesign(r Rules, nmax, first, sims int) design {
	return design{rules: r, nmax: nmax, first: first, two: newOperation(r, sims), one: newOperation(r, sims)}
}

func (d *design) analyse(n int, alpha float64, w *world) {
	if n > d.nmax {
		return
	}
	if n < d.first {
		d.two.critical = append(d.two.critical, math.Inf(1))
	} else {
		d.two.spend(Increment(d.rules.Share*alpha, d.rules.Rho, n, d.nmax, d.first), w.two)
	}
	d.one.spend(Increment(alpha, d.rules.RhoOne, n, d.nmax, FirstAnalysis), w.one)
}

// scores converts critical values into normal scores.
func (d *design) scores(k int) {
	for i := range d.two.critical {
		t := distuv.StudentsT{Sigma: 1, Nu: d.rules.DF(FirstAnalysis+i, k)}
		for _, c := range [][]float64{d.two.critical, d.one.critical} {
			if !math.IsInf(c[i], 0) {
				c[i] = -distuv.UnitNormal.Quantile(t.CDF(-c[i]))
			}
		}
	}
}

// operation spends the error of one statistic over the simulated experiments.
type operation struct {
	sims     int
	safety   float64
	inside   []int32 // experiments that have not crossed yet
	critical []float64
}

func newOperation(r Rules, sims int) operation {
	inside := make([]int32, sims)
	for i := range inside {
		inside[i] = int32(i)
	}
	return operation{sims: sims, safety: r.Safety, inside: inside}
}

// spend finds the value that the given share of all experiments crosses at this analysis, and removes these experiments.
func (f *operation) spend(share float64, stat []float64) {
	values := make([]float64, len(f.inside))
	for i, s := range f.inside {
		values[i] = stat[s]
	}
	cross := max(1, int(math.Round(share*float64(f.sims))))
	keep := max(1, len(values)-cross)
	limit := NthSmallest(values, keep-1)
	f.critical = append(f.critical, f.safety*limit)
	f.inside = slices.DeleteFunc(f.inside, func(s int32) bool { return stat[s] > limit })
}

// NthSmallest returns the element of x with rank n (from 0), by Hoare's selection. It reorders x so that no element
// before that rank is larger, and none after it smaller.
func NthSmallest(x []float64, n int) float64 {
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
