package main

import (
	"math"

	"filewise/verdict"
)

// margin is δ: a layout this close to the best one is as good.
var margin = math.Log(1.02)

// score is what came of one experiment, held against the truth.
type score struct {
	alarm   bool // a difference is claimed at some look where there is none
	covered bool // all intervals of all looks hold the truth
	wrong   bool // better is claimed of what is worse, or the other way round
	proven  bool // something is recommended, the baseline included
	good    bool // and it is within the margin of the best
	found   bool // a layout other than the baseline, within the margin of the best
	trials  int
}

// scoreOf holds a judgement against the truth of a world.
func scoreOf(w world, r verdict.Result) score {
	s := score{covered: true, trials: r.Trials}
	for _, look := range r.Looks {
		for j, e := range look.Estimates {
			if !e.Known() {
				continue
			}
			s.claim(w.effects[j]-w.effects[0], e.Lo, e.Hi)
		}
	}
	look, ok := r.Last()
	if !ok || look.Recommended < 0 {
		return s
	}
	s.proven = true
	s.choose(w, look.Recommended)
	return s
}

// claim is an interval of a layout whose true effect is known.
func (s *score) claim(truth, lo, hi float64) {
	const rounding = 1e-9
	s.alarm = s.alarm || truth == 0 && (lo > rounding || hi < -rounding)
	s.wrong = s.wrong || truth > 0 && hi < 0 || truth < 0 && lo > 0
	s.covered = s.covered && lo <= truth+rounding && hi >= truth-rounding
}

// choose a layout.
func (s *score) choose(w world, j int) {
	s.good = w.best()-w.effects[j] <= margin+1e-9
	s.found = s.good && j != 0
}
