package main

import (
	"fmt"
	"math"
)

// tally counts experiments.
type tally struct {
	n                                          int
	alarm, covered, wrong, proven, good, found int
	goodProven                                 int
	trials, trialsSquare                       float64
}

func (t *tally) add(s score) {
	t.n++
	count := func(c *int, is bool) {
		if is {
			*c++
		}
	}
	count(&t.alarm, s.alarm)
	count(&t.covered, s.covered)
	count(&t.wrong, s.wrong)
	count(&t.proven, s.proven)
	count(&t.good, s.good)
	count(&t.found, s.found)
	count(&t.goodProven, s.good && s.proven)
	t.trials += float64(s.trials)
	t.trialsSquare += float64(s.trials) * float64(s.trials)
}

// share is a proportion with its standard error.
type share struct{ of, n int }

func (s share) value() float64 { return float64(s.of) / float64(s.n) }

// se is the binomial standard error; at 0 and 1 that of one more or less of
// them, so that it is never none (Agresti and Coull's idea).
func (s share) se() float64 {
	p := (float64(s.of) + 1) / (float64(s.n) + 2)
	return math.Sqrt(p * (1 - p) / float64(s.n))
}

func (s share) String() string {
	if s.n == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f ±%.1f", 100*s.value(), 100*s.se())
}

// meanTrials is the mean number of trials, with its standard error.
func (t *tally) meanTrials() (mean, se float64) {
	n := float64(t.n)
	mean = t.trials / n
	if t.n < 2 {
		return mean, math.Inf(1)
	}
	return mean, math.Sqrt(max(0, t.trialsSquare/n-mean*mean) / (n - 1))
}
