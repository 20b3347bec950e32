package main

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"

	"gonum.org/v1/gonum/stat/distuv"
)

// kind is a kind of noise. Its generator returns the disturbance of a trial on the log scale, by block, layout and
// number of the trial. Failed trials are NaN.
type kind struct {
	name string
	make func(r *rand.Rand, k int) func(block, layout, trial int) float64
}

type trialNoise = func(block, layout, trial int) float64

// byLayout returns normal noise with a standard deviation for each layout.
func byLayout(name string, sd func(j, k int) float64) kind {
	return kind{name, func(r *rand.Rand, k int) trialNoise {
		return func(_, j, _ int) float64 { return sd(j, k) * r.NormFloat64() }
	}}
}

// oneAmong returns normal noise in which one layout, chosen by which, has its own standard deviation.
func oneAmong(name string, odd, others float64, which func(k int) int) kind {
	return byLayout(name, func(j, k int) float64 {
		if j == which(k) {
			return odd
		}
		return others
	})
}

// independent returns noise drawn from one distribution: for every layout or, if alone is set, for the last layout
// among others with noise of 1 %.
func independent(name string, alone bool, draw func(r *rand.Rand) float64) kind {
	return kind{name, func(r *rand.Rand, k int) trialNoise {
		return func(_, j, _ int) float64 {
			if alone && j < k-1 {
				return 0.01 * r.NormFloat64()
			}
			return draw(r)
		}
	}}
}

func last(k int) int { return k - 1 }
func first(int) int  { return 0 }

// kinds returns worlds in which no layout differs: the median of ln y is the same for all, even if one layout alone is
// skewed or has two states.
func kinds() []kind {
	all := append(append(unequalKinds(), shapes()...), machines()...)
	return append(all, kind{builtKind, all[0].make})
}

func unequalKinds() []kind {
	return []kind{
		byLayout("all CV 2 %", func(int, int) float64 { return 0.02 }),
		oneAmong("one layout CV 15 % among 1 %", 0.15, 0.01, last),
		oneAmong("one layout CV 8 % among 1 %", 0.08, 0.01, last),
		oneAmong("one layout CV 8 % among 2 %", 0.08, 0.02, last),
		oneAmong("baseline CV 15 % among 1 %", 0.15, 0.01, first),
		byLayout("half of the layouts CV 8 %, half 1 %", func(j, k int) float64 {
			if 2*j >= k {
				return 0.08
			}
			return 0.01
		}),
		{"every layout its own CV, 1 to 15 %", func(r *rand.Rand, k int) trialNoise {
			sd := make([]float64, k)
			for j := range sd {
				sd[j] = 0.01 * math.Pow(15, r.Float64())
			}
			return func(_, j, _ int) float64 { return sd[j] * r.NormFloat64() }
		}},
		{"noise grows from block to block", func(r *rand.Rand, _ int) trialNoise {
			return func(b, _, _ int) float64 { return 0.01 * (1 + float64(b)/2) * r.NormFloat64() }
		}},
		{"noise of one layout grows", func(r *rand.Rand, k int) trialNoise {
			return func(b, j, _ int) float64 {
				if j < k-1 {
					return 0.01 * r.NormFloat64()
				}
				return 0.01 * float64(1+b) * r.NormFloat64()
			}
		}},
	}
}

// shapes returns noise whose distribution is not normal.
func shapes() []kind {
	twoStates := func(r *rand.Rand) float64 {
		return 0.01*r.NormFloat64() + slowBy*(float64(r.IntN(2))-0.5)
	}
	heavy := func(r *rand.Rand) float64 { return distuv.StudentsT{Sigma: 0.04, Nu: 2, Src: r}.Rand() }
	skewed := func(r *rand.Rand) float64 { return -0.1 * (r.ExpFloat64() - math.Ln2) } // around its median
	return []kind{
		independent("10 % of trials 60 % slower", false, func(r *rand.Rand) float64 {
			if r.Float64() < 0.1 {
				return math.Log(0.4) + 0.02*r.NormFloat64()
			}
			return 0.02 * r.NormFloat64()
		}),
		independent("two-state trials, 30 % apart", false, twoStates),
		independent("one layout alone two-state", true, twoStates),
		independent("heavy tails (t with 2 degrees)", false, heavy),
		independent("one layout heavy-tailed", true, heavy),
		independent("skewed slow-downs (exponential)", false, skewed),
		independent("one layout skewed", true, skewed),
		{"failures hit slow trials", func(r *rand.Rand, _ int) trialNoise {
			return func(int, int, int) float64 {
				z := r.NormFloat64()
				if z < -1 && r.Float64() < 0.5 {
					return math.NaN()
				}
				return 0.03 * z
			}
		}},
	}
}

// machines returns states of the machine that depend on a trial's time, not on the layout.
func machines() []kind {
	return []kind{
		{"every K-th trial 30 % slower (checkpoints)", func(r *rand.Rand, k int) trialNoise {
			phase := r.IntN(k)
			return func(_, _, t int) float64 {
				if t%k == phase {
					return slowBy + 0.02*r.NormFloat64()
				}
				return 0.02 * r.NormFloat64()
			}
		}},
		{"what ran before slows the next, up to 3 %", func(r *rand.Rand, k int) trialNoise {
			leaves, before := make([]float64, k), 0.0
			for j := range leaves {
				leaves[j] = 0.03 * r.Float64()
			}
			return func(_, j, _ int) float64 {
				y := 0.02*r.NormFloat64() - before
				before = leaves[j]
				return y
			}
		}},
		{"bursts of slow trials", func(r *rand.Rand, k int) trialNoise {
			left := 0
			return func(int, int, int) float64 {
				if left == 0 && r.Float64() < 0.06 {
					left = 1 + r.IntN(2*k)
				}
				if left > 0 {
					left--
					return math.Log(0.6) + 0.02*r.NormFloat64()
				}
				return 0.02 * r.NormFloat64()
			}
		}},
		ofMachine("drift (AR(1))", drifting(0.02)),
		ofMachine("shared: drift, steps, slow trials", shared(0.02)),
	}
}

// ofMachine returns the noise of a world, the same for every layout.
func ofMachine(name string, w world) kind {
	return kind{name, func(r *rand.Rand, _ int) trialNoise {
		m := &machine{world: w, random: r}
		m.state = w.drift * r.NormFloat64()
		return func(int, int, int) float64 { return m.next(0) }
	}}
}

// row holds the results of one way of judging in one world.
type row struct {
	world  world
	method string
	ours   bool
	tally  tally
}

// runWorld runs n experiments in one world, by the program or by cells. If the design consists of trials, it also
// judges by the articles' ways.
func runWorld(ctx context.Context, w world, n int, seed uint64) ([]row, error) {
	rows := []row{{world: w, method: w.method(), ours: true}}
	ways := []func(uint64) (score, error){func(i uint64) (score, error) { return ours(ctx, w, seed, i) }}
	if w.slices == 0 && w.probe == 0 && !w.forget {
		for _, a := range articles() {
			rows = append(rows, row{world: w, method: a.name})
			ways = append(ways, func(i uint64) (score, error) { return a.judge(w, seed, i) })
		}
	}
	for r, way := range ways {
		scores, err := parallel(ctx, n, way)
		if err != nil {
			return nil, err
		}
		for _, s := range scores {
			rows[r].tally.add(s)
		}
	}
	return rows, nil
}

func (w world) method() string {
	switch {
	case w.single:
		return "one session"
	case w.slices > 0:
		return "cells"
	}
	return "filewise"
}

func ours(ctx context.Context, w world, seed, number uint64) (score, error) {
	if w.slices > 0 {
		r, err := sessions(w, seed, number)
		return scoreOf(w, r), err
	}
	j, err := whole(ctx, w, seed, number)
	return scoreOf(w, j.First().Result), err
}

// parallel calls f for 0 … n−1 on all processors. The scores are in order, so they do not depend on the number of
// processors.
func parallel[T any](ctx context.Context, n int, f func(uint64) (T, error)) ([]T, error) {
	scores := make([]T, n)
	var group sync.WaitGroup
	var once sync.Once
	var failure error
	next := make(chan int)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for i := range next {
				var err error
				if scores[i], err = f(uint64(i)); err != nil {
					once.Do(func() { failure = err; cancel() })
				}
			}
		})
	}
	for i := range n {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	group.Wait()
	if failure == nil {
		failure = context.Cause(ctx)
	}
	return scores, failure
}
