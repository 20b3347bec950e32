package main

import "fmt"

// What the method promises (issue 6): each share may exceed its target by two
// standard errors of the simulation.
const (
	mostAlarms   = 0.05
	leastCovered = 0.95
	leastGood    = 0.99 // of what is called proven, over all worlds
	mostWrong    = 0.005
	tolerated    = 2.0 // standard errors
	rounding     = 0.5 // the page's trials are whole numbers
)

// missed lists the targets that the program's own rows miss.
func missed(rows []row) []string {
	var out []string
	miss := func(w world, what, got, want string) {
		out = append(out, fmt.Sprintf("%s: %s %s, target %s", w.name, what, got, want))
	}
	var good share
	for _, r := range rows {
		if !r.ours || r.world.forget || r.world.single {
			continue
		}
		t := r.tally
		if s := (share{t.alarm, t.n}); s.value() > mostAlarms+tolerated*s.se() {
			miss(r.world, "false alarms", s.String()+" %", "at most 5 %")
		}
		if s := (share{t.covered, t.n}); s.value() < leastCovered-tolerated*s.se() {
			miss(r.world, "coverage", s.String()+" %", "at least 95 %")
		}
		if s := (share{t.wrong, t.n}); s.value() > mostWrong+tolerated*s.se() {
			miss(r.world, "wrong direction", s.String()+" %", "at most 0.5 %")
		}
		if mean, se := t.meanTrials(); r.world.limit > 0 && mean > r.world.limit+rounding+tolerated*se {
			miss(r.world, "trials", fmt.Sprintf("%.1f ±%.1f", mean, se), fmt.Sprintf("at most %.0f", r.world.limit))
		}
		good.of, good.n = good.of+t.goodProven, good.n+t.proven
	}
	if good.n > 0 && good.value() < leastGood-tolerated*good.se() {
		out = append(out, fmt.Sprintf("all worlds: recommended within the margin of the best in %s %% of what is proven, target at least 99 %%",
			good))
	}
	return out
}
