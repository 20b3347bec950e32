// Package boundary finds the critical values of the sequential comparison by
// simulating experiments in which nothing differs.
package boundary

import (
	"math"
	"slices"
)

// FirstLook is the number of blocks at the first look.
const FirstLook = 3

// ν₀ of the moderated contrast variance and ρ of the error spending are fixed
// by the method (STATISTICS.md, "Fit" and "Boundaries").
const (
	priorDF = 4
	rho     = 1.5
)

// safety covers the difference between the least-squares fit simulated here
// and the robust fit used on data.
const safety = 1.01

// Table holds the critical values of one design, one per look from block 3.
type Table struct {
	TwoSided []float64 // of max |t| against the baseline
	OneSided []float64 // of max t against the baseline
}

// Spent returns the error that may have been used up to block n of nmax:
// α(n/nmax)^1.5.
func Spent(alpha float64, n, nmax int) float64 {
	return alpha * math.Pow(float64(n)/float64(nmax), rho)
}

// Increment is the error to be used at block n.
func Increment(alpha float64, n, nmax int) float64 {
	if n == FirstLook {
		return Spent(alpha, n, nmax)
	}
	return Spent(alpha, n, nmax) - Spent(alpha, n-1, nmax)
}

// Simulate returns a table for each nmax (at least 3) of experiments with k
// arms (at least 2), from sims simulated null experiments. It looks at one
// set of experiments block by block; each nmax keeps account of which of them
// have not yet crossed its boundary. The result depends on the arguments
// alone, not on the number of cores.
func Simulate(k int, nmaxes []int, alpha float64, sims int, seed uint64) []Table {
	world := newWorld(k, sims, seed)
	designs := make([]design, len(nmaxes))
	for i, nmax := range nmaxes {
		designs[i] = newDesign(nmax, sims)
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
		tables[i] = Table{TwoSided: d.two.critical, OneSided: d.one.critical}
	}
	return tables
}

// FixedN returns the critical values for a single look after n blocks, for
// each n (at least 3, ascending), without the safety factor: what looking
// often is paid with is the difference to these.
func FixedN(k int, ns []int, alpha float64, sims int, seed uint64) Table {
	world := newWorld(k, sims, seed)
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
	nmax     int
	two, one family
}

func newDesign(nmax, sims int) design {
	return design{nmax: nmax, two: newFamily(sims), one: newFamily(sims)}
}

func (d *design) look(n int, alpha float64, w *world) {
	if n > d.nmax {
		return
	}
	share := Increment(alpha, n, d.nmax)
	d.two.spend(share, w.two)
	d.one.spend(share, w.one)
}

// family spends the error of one statistic.
type family struct {
	sims     int
	inside   []int32 // experiments that have not crossed
	critical []float64
}

func newFamily(sims int) family {
	inside := make([]int32, sims)
	for i := range inside {
		inside[i] = int32(i)
	}
	return family{sims: sims, inside: inside}
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
	f.critical = append(f.critical, safety*limit)
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
