package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

// A few experiments of each kind: large effects are found, by the real program,
// with few trials, and nothing else than the truth is claimed.
func TestSmoke(t *testing.T) {
	if testing.Short() {
		t.Skip("whole experiments")
	}
	var out, progress bytes.Buffer
	args := []string{"-n", "20", "-nulls", "0", "-heldout", "0", "-planted", "0", "-races", "0", "-worlds", "quiet +50 %; drift reversed"}
	if err := run(t.Context(), args, &out, &progress); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	for _, want := range []string{"| quiet +50 % (Shea's figures)", "five in a row, Mann–Whitney", "All targets are met.",
		"20 experiments in each of 2 worlds, seed 1"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, out.String())
		}
	}
	w, err := choose("quiet +50 %")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := runWorld(t.Context(), w[0], 20, 2)
	if err != nil {
		t.Fatal(err)
	}
	if got := rows[0].tally; got.found < 19 || got.trials > 20*32 {
		t.Errorf("found %d of 20 with %.0f trials", got.found, got.trials)
	}
}

// Races of a dozen settings end at one that no other is more than the margin faster than, with a
// third of the trials of the full grid at most.
func TestRaces(t *testing.T) {
	scores, err := parallel(t.Context(), 20, func(i uint64) (raceScore, error) { return race(kinds()[0], 12, 1, i) })
	if err != nil {
		t.Fatal(err)
	}
	proven, trials := 0, 0
	for i, s := range scores {
		if s.wrong {
			t.Errorf("race %d is wrong", i)
		}
		trials += s.trials
		if s.proven {
			proven++
		}
	}
	if proven < 12 || trials > 20*12*maxBlocks/3 {
		t.Errorf("%d of 20 proven, with %d trials", proven, trials)
	}
}

// Reused builds go through the runner with their names: judged without them, the
// same trials claim more.
func TestBuildsAreReused(t *testing.T) {
	w, err := choose("builds reused;builds forgotten")
	if err != nil {
		t.Fatal(err)
	}
	known, err := whole(t.Context(), w[0], 1, 3)
	if err != nil {
		t.Fatal(err)
	}
	forgotten, err := whole(t.Context(), w[1], 1, 3)
	if err != nil {
		t.Fatal(err)
	}
	a, b := known.First().Result.Analyses[3].Estimates[1], forgotten.First().Result.Analyses[3].Estimates[1]
	if a.Builds != 4 || !(a.Hi-a.Lo > b.Hi-b.Lo) {
		t.Errorf("%d builds; interval %.3f wide, %.3f when they are forgotten", a.Builds, a.Hi-a.Lo, b.Hi-b.Lo)
	}
}

// A method that claims too much, points the wrong way or takes too long is reported.
func TestTargetsCanBeMissed(t *testing.T) {
	bad := tally{n: 1000, alarm: 90, covered: 900, wrong: 30, proven: 500, goodProven: 400, trials: 50_000, trialsSquare: 2_600_000}
	got := strings.Join(missed([]row{{world: world{name: "w", limit: 40}, ours: true, tally: bad}}), "\n")
	for _, want := range []string{"w: false alarms 9.0", "w: coverage 90.0", "w: wrong direction 3.0", "w: trials 50.0",
		"all worlds: recommended within the margin"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
	if rest := missed([]row{{world: world{name: "w"}, tally: bad}}); len(rest) != 0 {
		t.Errorf("the articles have no targets: %v", rest)
	}
}

// The same seed gives the same scores on any number of processors.
func TestSeedDecides(t *testing.T) {
	w, err := choose("shared +50 %")
	if err != nil {
		t.Fatal(err)
	}
	together, err := parallel(t.Context(), 4, func(i uint64) (score, error) { return ours(t.Context(), w[0], 5, i) })
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range together {
		if again, err := ours(context.Background(), w[0], 5, uint64(i)); err != nil || again != s {
			t.Errorf("experiment %d: %+v, again %+v, %v", i, s, again, err)
		}
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{"-n", "0"}, {"-worlds", "mars"}, {"more"}} {
		if err := run(t.Context(), args, new(bytes.Buffer), new(bytes.Buffer)); err == nil {
			t.Errorf("%q is accepted", args)
		}
	}
}
