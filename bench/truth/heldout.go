package main

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"
)

// heldOut are worlds that the rules were not chosen by: written down before the rules
// were fixed and run afterwards. Nothing differs in them, and the mean of each layout's
// logarithms is the same.
func heldOut() []kind {
	return []kind{
		{"gamma slow-downs, a shape of each layout", func(r *rand.Rand, k int) trialNoise {
			shape := spreadOut(r, k, 0.7, 8)
			return func(_, j, _ int) float64 {
				g := distuv.Gamma{Alpha: shape[j], Beta: math.Sqrt(shape[j]), Src: r}
				return -0.05 * (g.Rand() - math.Sqrt(shape[j]))
			}
		}},
		{"lognormal slow-downs, a shape of each layout", func(r *rand.Rand, k int) trialNoise {
			shape := spreadOut(r, k, 0.3, 1)
			return func(_, j, _ int) float64 {
				return -0.05 * (math.Exp(shape[j]*r.NormFloat64()) - math.Exp(shape[j]*shape[j]/2))
			}
		}},
		{"one layout stalls in bursts", func(r *rand.Rand, k int) trialNoise {
			slow := newTwoState(r, 0.08, 0.4)
			return func(_, j, _ int) float64 {
				if j < k-1 {
					return 0.02 * r.NormFloat64()
				}
				return slow.next() + 0.02*r.NormFloat64()
			}
		}},
		{"the machine is fast or slow, for 3 trials", func(r *rand.Rand, _ int) trialNoise {
			slow := newTwoState(r, 1.0/3, 1.0/3)
			return func(int, int, int) float64 { return slow.next() + 0.01*r.NormFloat64() }
		}},
		{"the machine is fast or slow, for 3 blocks", func(r *rand.Rand, k int) trialNoise {
			slow := newTwoState(r, 1/float64(3*k), 1/float64(3*k))
			return func(int, int, int) float64 { return slow.next() + 0.01*r.NormFloat64() }
		}},
		{"AR(1) of 0.6 within each session", func(r *rand.Rand, _ int) trialNoise {
			state, of := 0.0, -1
			return func(b, _, _ int) float64 {
				if b != of {
					state, of = 0.03*r.NormFloat64(), b
				}
				state = 0.6*state + 0.8*0.03*r.NormFloat64()
				return state
			}
		}},
		{"noise falls from block to block", func(r *rand.Rand, _ int) trialNoise {
			return func(b, _, _ int) float64 { return 0.10 / float64(1+b) * r.NormFloat64() }
		}},
		{"failures hit fast trials", func(r *rand.Rand, _ int) trialNoise {
			return func(int, int, int) float64 {
				z := r.NormFloat64()
				if z > 1 && r.Float64() < 0.5 {
					return math.NaN()
				}
				return 0.03 * z
			}
		}},
		{"Student's t with 3 degrees, a width of each layout", func(r *rand.Rand, k int) trialNoise {
			sd := spreadOut(r, k, 0.01, 0.06)
			return func(_, j, _ int) float64 { return distuv.StudentsT{Sigma: sd[j], Nu: 3, Src: r}.Rand() }
		}},
	}
}

// spreadOut draws a parameter of each layout, evenly on the log scale.
func spreadOut(r *rand.Rand, k int, least, most float64) []float64 {
	out := make([]float64, k)
	for j := range out {
		out[j] = least * math.Pow(most/least, r.Float64())
	}
	return out
}

// twoState is slow by 30 % now and then, around a mean of 0; it starts anywhere.
type twoState struct {
	random       *rand.Rand
	slow         bool
	enter, leave float64 // chances at each trial
}

func newTwoState(r *rand.Rand, enter, leave float64) *twoState {
	return &twoState{random: r, slow: r.Float64() < enter/(enter+leave), enter: enter, leave: leave}
}

func (t *twoState) next() float64 {
	mean := t.enter / (t.enter + t.leave) * slowBy
	change := t.enter
	if t.slow {
		change = t.leave
	}
	if t.random.Float64() < change {
		t.slow = !t.slow
	}
	if t.slow {
		return slowBy - mean
	}
	return -mean
}
