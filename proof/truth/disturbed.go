package main

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"
)

// disturbed returns the worlds with planted disturbances. The estimand is the typical trial, the median of ln y. A
// disturbance of one layout alone is centred on its median, so that no layout differs by it.
func disturbed() []kind {
	return append(append(ofOneLayout(), ofTheMachine()...), independent("skewed lognormal noise", false, skewedLognormal),
		kind{carryKind, func(r *rand.Rand, k int) trialNoise {
			before := 0.0
			return func(_, j, _ int) float64 {
				y := 0.01*r.NormFloat64() - before
				if before = 0; j == k-1 {
					before = 0.03
				}
				return y
			}
		}},
		kind{"a corrupt trial, ten times or a tenth", func(r *rand.Rand, k int) trialNoise {
			at, by := 1+r.IntN(k*maxBlocks), math.Log(10)*float64(2*r.IntN(2)-1)
			return func(_, _, t int) float64 {
				if t == at {
					return by
				}
				return 0.02 * r.NormFloat64()
			}
		}},
		kind{twoStateBuilds, kinds()[0].make})
}

// carryKind and twoStateBuilds name kinds of noise. carryKind needs no truth of its own: what the last layout leaves
// behind is no layout's work.
const carryKind, twoStateBuilds = "the last layout slows the next trial by 3 %", "every layout's reused builds are fast or slow, 4 % apart"

const lognormalShape, lognormalScale = 0.8, 0.05

// skewedLognormal draws from a skewed lognormal distribution with median 0.
func skewedLognormal(r *rand.Rand) float64 {
	return -lognormalScale * (math.Exp(lognormalShape*r.NormFloat64()) - 1)
}

// stalledMedian returns the median of noise with standard deviation sd, of which a share of the trials is far below:
// the point at which the other trials alone bring half of all trials below it.
func stalledMedian(share, sd float64) float64 {
	return sd * distuv.UnitNormal.Quantile((0.5-share)/(1-share))
}

// ofOneLayout returns disturbances that only the last layout has.
func ofOneLayout() []kind {
	alone := func(name string, make func(r *rand.Rand) func() float64) kind {
		return kind{name, func(r *rand.Rand, k int) trialNoise {
			next := make(r)
			return func(_, j, _ int) float64 {
				if j < k-1 {
					return 0.02 * r.NormFloat64()
				}
				return next()
			}
		}}
	}
	return []kind{
		alone("one layout stalls in 10 % of its trials", func(r *rand.Rand) func() float64 {
			return func() float64 {
				y := 0.02*r.NormFloat64() - stalledMedian(0.1, 0.02)
				if r.Float64() < 0.1 {
					y += slowBy
				}
				return y
			}
		}),
		alone("one layout stalls in bursts, 10 % of its trials", func(r *rand.Rand) func() float64 {
			state := newTwoState(r, 1.0/27, 1.0/3) // states last three trials each
			return func() float64 {
				return state.next() + 0.1*slowBy + 0.02*r.NormFloat64() - stalledMedian(0.1, 0.02)
			}
		}),
		// A trial of 10 s starts at any time. In half of the trials, at most 1.5 s are frozen.
		alone("one layout freezes 8 s every 30 s", func(r *rand.Rand) func() float64 {
			return func() float64 {
				from := 30 * r.Float64()
				frozen := max(0, min(8, from+10)-from) + max(0, min(38, from+10)-max(30, from))
				return math.Log1p(-frozen/10) - math.Log1p(-0.15)
			}
		}),
	}
}

// ofTheMachine returns disturbances that depend on time, whichever layout runs.
func ofTheMachine() []kind {
	byTrial := func(name string, make func(r *rand.Rand, k int) func(t int) float64) kind {
		return kind{name, func(r *rand.Rand, k int) trialNoise {
			at := make(r, k)
			return func(_, _, t int) float64 { return at(t) + 0.02*r.NormFloat64() }
		}}
	}
	return []kind{
		byTrial("burst credits run out", func(r *rand.Rand, k int) func(int) float64 {
			end := r.IntN(k * maxBlocks)
			return func(t int) float64 {
				if t > end {
					return math.Log(0.4)
				}
				return 0
			}
		}),
		byTrial("write cliff, and back after idle time", func(r *rand.Rand, k int) func(int) float64 {
			full, of := 0.0, float64(1+r.IntN(3*k))
			return func(int) float64 {
				if full++; full > 2*of {
					full = 0
				}
				return math.Log(0.5) * max(0, min(1, full/of-1))
			}
		}),
		byTrial("a checkpoint every 5 minutes", func(r *rand.Rand, _ int) func(int) float64 {
			phase := r.IntN(10) // trials take 30 s
			return func(t int) float64 {
				if t%10 == phase {
					return math.Log(0.8)
				}
				return 0
			}
		}),
		byTrial("the processor heats up", func(r *rand.Rand, k int) func(int) float64 {
			scale := float64(k) * (1 + 5*r.Float64())
			return func(t int) float64 { return math.Log(0.8) * (1 - math.Exp(-float64(t)/scale)) }
		}),
		byTrial("cron: 3 of 20 trials slow", func(r *rand.Rand, _ int) func(int) float64 {
			phase := r.IntN(20)
			return func(t int) float64 {
				if (t+phase)%20 < 3 {
					return slowBy
				}
				return 0
			}
		}),
		byTrial("steal by neighbours", func(r *rand.Rand, _ int) func(int) float64 {
			level := 0.0
			return func(int) float64 {
				if level *= 0.7; r.Float64() < 0.15 {
					level += 0.2 * r.ExpFloat64()
				}
				return math.Log1p(-min(level, 0.9))
			}
		}),
	}
}
