package main

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"filewise/lab/verdict"
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

// share is a proportion, of out of n, with a standard error.
type share struct{ of, n int }

func (s share) value() float64 { return float64(s.of) / float64(s.n) }

// se returns the binomial standard error. At 0 and 1, it is the error of one more or less, so that it is never 0
// (Agresti and Coull's idea).
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

// meanTrials returns the mean number of trials, with its standard error.
func (t *tally) meanTrials() (mean, se float64) {
	n := float64(t.n)
	mean = t.trials / n
	if t.n < 2 {
		return mean, math.Inf(1)
	}
	return mean, math.Sqrt(max(0, t.trialsSquare/n-mean*mean) / (n - 1))
}

// printRows writes the table in Markdown. Shares are in percent, with standard errors.
func printRows(w io.Writer, rows []row) error {
	tw := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	fmt.Fprintln(tw, "| world\t| judged by\t| false alarms\t| coverage\t| wrong direction\t| proven\t| of it within 2 %\t| best found\t| "+
		"trials\t|")
	fmt.Fprintln(tw, "|---\t|---\t|---\t|---\t|---\t|---\t|---\t|---\t|---\t|")
	for _, r := range rows {
		t := r.tally
		name := ""
		if r.ours {
			name = r.world.name
			if r.world.about != "" {
				name += " (" + r.world.about + ")"
			}
		}
		covered := share{t.covered, t.n}.String()
		if !r.ours {
			covered = "–" // the articles give no intervals
		}
		mean, se := t.meanTrials()
		fmt.Fprintf(tw, "| %s\t| %s\t| %s\t| %s\t| %s\t| %s\t| %s\t| %s\t| %.1f ±%.1f\t|\n", name, r.method, alarms(r), covered,
			wrong(r), share{t.proven, t.n}, share{t.goodProven, t.proven}, found(r), mean, se)
	}
	return tw.Flush()
}

// alarms returns a row's share of false alarms, which are possible if some layout is as good as 1 file.
func alarms(r row) string {
	for _, e := range r.world.effects[1:] {
		if e == 0 {
			return share{r.tally.alarm, r.tally.n}.String()
		}
	}
	return "–"
}

// wrong returns a row's share of wrong directions, which are possible if some layout differs from 1 file.
func wrong(r row) string {
	if r.world.null() {
		return "–"
	}
	return share{r.tally.wrong, r.tally.n}.String()
}

// found returns a row's share of experiments in which a better layout is found. The others are the misses.
func found(r row) string {
	if r.world.best() <= 0 {
		return "–"
	}
	return share{r.tally.found, r.tally.n}.String()
}

// margin is δ: a layout this close to the best one is as good.
var margin = math.Log(1.02)

// score holds the result of one experiment, compared with the truth.
type score struct {
	alarm   bool // a difference is claimed at some interim analysis although there is none
	covered bool // all intervals of all interim analyses hold the truth
	wrong   bool // a worse layout is claimed to be better, or the other way round
	proven  bool // a layout is recommended, the baseline included
	good    bool // the recommended layout is within the margin of the best
	found   bool // a layout other than the baseline, within the margin of the best, is recommended
	trials  int
}

// scoreOf compares a judgement with the truth of a world.
func scoreOf(w world, r verdict.Result) score {
	s := score{covered: true, trials: r.Trials}
	for _, analysis := range r.Analyses {
		for j, e := range analysis.Estimates {
			if !e.Known() {
				continue
			}
			s.claim(w.effects[j]-w.effects[0], e.Lo, e.Hi)
		}
	}
	analysis, ok := r.Last()
	if !ok || analysis.Recommended < 0 {
		return s
	}
	s.proven = true
	s.choose(w, analysis.Recommended)
	return s
}

// claim counts a layout's interval against its known true effect.
func (s *score) claim(truth, lo, hi float64) {
	const rounding = 1e-9
	s.alarm = s.alarm || truth == 0 && (lo > rounding || hi < -rounding)
	s.wrong = s.wrong || truth > 0 && hi < 0 || truth < 0 && lo > 0
	s.covered = s.covered && lo <= truth+rounding && hi >= truth-rounding
}

// choose records layout j as the choice.
func (s *score) choose(w world, j int) {
	s.good = w.best()-w.effects[j] <= margin+1e-9
	s.found = s.good && j != 0
}
