package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"filewise/lab/verdict/stats"
	"gonum.org/v1/gonum/stat/distuv"
)

// heldOut returns worlds by which the rules were not chosen: they were written down before the rules were fixed, and
// run afterwards. Nothing differs in them: the median of the logarithms is the same for every layout.
func heldOut() []kind {
	return []kind{
		{"gamma slow-downs, a shape of each layout", func(r *rand.Rand, k int) trialNoise {
			shape := spreadOut(r, k, 0.7, 8)
			return func(_, j, _ int) float64 {
				g := distuv.Gamma{Alpha: shape[j], Beta: math.Sqrt(shape[j]), Src: r}
				return -0.05 * (g.Rand() - g.Quantile(0.5))
			}
		}},
		{"lognormal slow-downs, a shape of each layout", func(r *rand.Rand, k int) trialNoise {
			shape := spreadOut(r, k, 0.3, 1)
			return func(_, j, _ int) float64 {
				return -0.05 * (math.Exp(shape[j]*r.NormFloat64()) - 1)
			}
		}},
		{"one layout stalls in bursts", func(r *rand.Rand, k int) trialNoise {
			slow := newTwoState(r, 0.08, 0.4)
			return func(_, j, _ int) float64 {
				if j < k-1 {
					return 0.02 * r.NormFloat64()
				}
				const share = 0.08 / 0.48 // share of slow trials
				return slow.next() + share*slowBy + 0.02*r.NormFloat64() - stalledMedian(share, 0.02)
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

// spreadOut draws a parameter for each layout, evenly on the log scale.
func spreadOut(r *rand.Rand, k int, least, most float64) []float64 {
	out := make([]float64, k)
	for j := range out {
		out[j] = least * math.Pow(most/least, r.Float64())
	}
	return out
}

// twoState is noise that is slow by 30 % now and then, around a mean of 0. It starts in any state.
type twoState struct {
	random       *rand.Rand
	slow         bool
	enter, leave float64 // probabilities at each trial
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

// article is a way of judging from the published articles: a number of runs of each layout, one layout after the other,
// and a test of each against 1 file at 5 %.
type article struct {
	name string
	runs int
	trim int // dropped at each end
	test func(base, other []float64) (bool, error)
}

// articles returns the ways of the articles, and the usual test without their means.
func articles() []article {
	return []article{
		{"one run each", 1, 0, func(base, other []float64) (bool, error) {
			return math.Abs(math.Log(other[0]/base[0])) > margin, nil
		}},
		{"five in a row, t-test", 5, 0, welch},
		{"five in a row, Mann–Whitney", 5, 0, func(base, other []float64) (bool, error) {
			r, err := stats.MannWhitney(other, base)
			return r.P < 0.05, err
		}},
		{"55 in a row, 4+4 dropped", 55, 4, welch},
	}
}

func welch(base, other []float64) (bool, error) {
	r, err := stats.WelchLogT(other, base)
	return r.P < 0.05, err
}

// judge measures a world in the article's way, and chooses the layout with the highest mean. If builds are reused, each
// layout has one build. A layout other than 1 file counts as proven if the article's test claims it.
func (a article) judge(w world, seed, number uint64) (score, error) {
	m := newMachine(w, seed, number)
	var samples [layouts][]float64
	var means [layouts]float64
	for j := range samples {
		build := w.peculiar * m.random.NormFloat64()
		for range a.runs {
			if w.builds == 0 {
				build = w.peculiar * m.random.NormFloat64()
			}
			samples[j] = append(samples[j], 1000*math.Exp(w.effects[j]+build+m.next(j)))
		}
		slices.Sort(samples[j])
		samples[j] = samples[j][a.trim : a.runs-a.trim]
		for _, x := range samples[j] {
			means[j] += x / float64(len(samples[j]))
		}
	}
	s := score{trials: a.runs * layouts}
	best := 0
	for j := 1; j < layouts; j++ {
		claimed, err := a.test(samples[0], samples[j])
		if err != nil {
			return s, fmt.Errorf("%s: %w", a.name, err)
		}
		up, truth := means[j] > means[0], w.effects[j]
		s.alarm = s.alarm || claimed && truth == 0
		s.wrong = s.wrong || claimed && (truth > 0 && !up || truth < 0 && up)
		if means[j] > means[best] {
			best, s.proven = j, claimed
		}
	}
	s.choose(w, best)
	s.found = s.found && s.proven
	return s, nil
}
