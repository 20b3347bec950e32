package main

import (
	"fmt"
	"math"
	"slices"

	"filewise/verdict/stats"
)

// article is a way of the published articles: a number of runs of each layout, one
// layout after the other, and a test against 1 file at 5 % each.
type article struct {
	name string
	runs int
	trim int // dropped at each end
	test func(base, other []float64) (bool, error)
}

// articles are the ways of the articles, and the usual test without their means.
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

// judge measures a world in the article's way, on one build of each layout where
// builds are reused, and chooses the highest mean. Choosing another layout than 1
// file is what it calls proven when its test says so.
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
