package verdict

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// named gives each cell the build that name returns.
func named(t Table, name func(b, j int) string) Table {
	for b := range t {
		for j := range t[b] {
			t[b][j].Build = name(b, j)
		}
	}
	return t
}

func buildsOf(t Table) builds {
	r := newReplay(DefaultConfig(), armsOf(len(t[0])), t, Boundaries{})
	return newBuilds(t, r.grid(len(t)))
}

func quiet(blocks, arms int) Table {
	return world{arms: arms, blocks: blocks, noise: 0.01}.table(rand.New(rand.NewPCG(1, 1)))
}

func TestWeights(t *testing.T) {
	for name, c := range map[string]struct {
		build func(b, j int) string
		want  float64
	}{
		"built anew":            {func(b, j int) string { return "" }, 0},
		"built anew, named":     {func(b, j int) string { return fmt.Sprint(b, j) }, 0},
		"three each":            {func(b, j int) string { return fmt.Sprint(b%3, j) }, 2.0 / 3},
		"one each":              {func(b, j int) string { return fmt.Sprint(j) }, 2},
		"shared":                {func(b, j int) string { return fmt.Sprint(b % 2) }, 0},
		"two against fresh":     {func(b, j int) string { return strings.Repeat(fmt.Sprint(b%2), j) }, 0.5},
		"unequal: 4 and 2 of 6": {func(b, j int) string { return strings.Repeat(fmt.Sprint(b/4), j) }, 20.0 / 36},
	} {
		v := buildsOf(named(quiet(6, 2), c.build))
		if got := v.weight(0, 1); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestOneBuild(t *testing.T) {
	table := named(quiet(5, 3), func(b, j int) string { return fmt.Sprint(j) })
	r := must(Judge(DefaultConfig(), armsOf(3), table))
	if !hasWarning(r, WarnOneBuild) {
		t.Errorf("warnings %v", r.Warnings)
	}
	if text := strings.Join(Sentences(r, WordsOptions{}), " "); !strings.Contains(text, "1 file, 2 files, 4 files: measured on") {
		t.Error(text)
	}
	analysis, _ := r.Last()
	if e := analysis.Estimates[1]; e.Builds != 1 || !math.IsNaN(e.BuildSD) {
		t.Errorf("%d builds, sd %v", e.Builds, e.BuildSD)
	}
}

// TestBuiltAnew: names that never come again are the same as no names.
func TestBuiltAnew(t *testing.T) {
	table := quiet(8, 4)
	want := must(Judge(DefaultConfig(), armsOf(4), table))
	got := must(Judge(DefaultConfig(), armsOf(4), named(table, func(b, j int) string { return fmt.Sprint(b, "/", j) })))
	equal(t, want, got)
}

// TestBuildsWiden: reused builds never make an interval narrower.
func TestBuildsWiden(t *testing.T) {
	for seed := range uint64(20) {
		w := world{arms: 3, blocks: 9, noise: 0.02, builds: 3, between: 0.01}
		table := w.table(rand.New(rand.NewPCG(8, seed)))
		r := newReplay(rules1(), armsOf(3), table, must(BoundariesFor(1, 3, 20, 0.95)))
		with := r.scene(9).estimate(1).SE
		forgetBuilds(table)
		if without := r.scene(9).estimate(1).SE; with < without {
			t.Errorf("%v with builds, %v without", with, without)
		}
	}
}

func TestBuildsLimit(t *testing.T) {
	w := world{arms: 3, blocks: 18, noise: 0.003, builds: 2, between: 0.05}
	r := must(Judge(DefaultConfig(), armsOf(3), w.table(rand.New(rand.NewPCG(8, 1)))))
	if !hasWarning(r, WarnLimit) {
		t.Errorf("warnings %v", r.Warnings)
	}
}
