package verdict

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"filewise/lab/verdict/internal/boundary"
)

// TestTablesAreComplete: every design that is to be in the code is there, with a boundary per analysis; by rules 1
// boundaries never rise.
func TestTablesAreComplete(t *testing.T) {
	for rules, arms := range map[int]int{1: 8, 2: 12} {
		for k := 2; k <= arms; k++ {
			for n := FirstAnalysis; n <= 30; n++ {
				b, ok := printed(rules, k, n)
				if !ok {
					t.Fatalf("rules %d: no table for %d arms, %d blocks", rules, k, n)
				}
				all := [][]float64{b.TwoSided, b.OneSided}
				if rules == 2 {
					all = append(all, b.OwnTwoSided, b.OwnOneSided)
				}
				for _, c := range all {
					falling := slices.IsSortedFunc(c, func(x, y float64) int { return int(1000 * (y - x)) })
					if len(c) != n-2 || !falling && rules == 1 || slices.Min(c) < 1.6 {
						t.Errorf("rules %d, %d arms, %d blocks: %v", rules, k, n, c)
					}
				}
				if first := b.firstClaim(); rules == 2 && first != min(n, map[bool]int{true: 6, false: 7}[k == 4 || k == 5]) {
					t.Errorf("%d arms, %d blocks: the first claim after %d", k, n, first)
				}
			}
		}
	}
}

// The settings of backups that filewise backup races by default are in the table, so that no user waits for a
// simulation; more arms need more.
func TestBoundariesOfBackups(t *testing.T) {
	fewer, _ := printed(2, 12, 20)
	for arms := 13; arms <= 32; arms++ {
		b, ok := printed(2, arms, 20)
		if !ok {
			t.Fatalf("no table for %d arms", arms)
		}
		for i := range b.OneSided {
			if b.OneSided[i] < 0.99*fewer.OneSided[i] || b.OneSided[i] > 1.05*fewer.OneSided[i] {
				t.Errorf("%d arms, analysis %d: %v, with fewer arms %v", arms, i, b.OneSided[i], fewer.OneSided[i])
			}
		}
		fewer = b
	}
}

// TestSimulationIgnoresCores: the same boundaries on any machine.
func TestSimulationIgnoresCores(t *testing.T) {
	run := func(cores int) boundary.Table {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
		return boundary.Rules2.Simulate(3, []int{6}, 0.05, 9_000, 1)[0]
	}
	one, many := run(1), run(4)
	if !slices.Equal(one.TwoSided, many.TwoSided) || !slices.Equal(one.OneSided, many.OneSided) {
		t.Errorf("%v, %v", one, many)
	}
}

func TestOtherConfidence(t *testing.T) {
	usual := must(BoundariesFor(2, 3, 5, 0.95))
	strict := must(BoundariesFor(2, 3, 5, 0.99))
	for i := range usual.TwoSided {
		if finite(usual.TwoSided[i]) && strict.TwoSided[i] <= usual.TwoSided[i] || strict.OneSided[i] <= usual.OneSided[i] {
			t.Errorf("99 %%: %v, 95 %%: %v", strict, usual)
		}
	}
	key := simulatedKey{2, 3, 5, 0.99}
	if &simulated(key).TwoSided[0] != &simulated(key).TwoSided[0] {
		t.Error("simulated twice")
	}
}

func TestBoundariesErrors(t *testing.T) {
	for _, c := range []struct {
		arms, blocks int
		confidence   float64
	}{{1, 20, 0.95}, {2, 2, 0.95}, {2, 501, 0.95}, {65, 20, 0.95}, {2, 20, 0}, {2, 20, 1}} {
		if _, err := BoundariesFor(2, c.arms, c.blocks, c.confidence); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func BenchmarkSimulatedBoundaries(b *testing.B) {
	for b.Loop() {
		boundary.Rules2.Simulate(8, []int{20}, 0.05, simulations, simulationSeed)
	}
}

// An experiment that is extended is judged in the blocks before as it was, and goes on with what
// of the error is left; by rules that leave none it is refused.
func TestExtended(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Rules, cfg.MaxBlocks = 3, 10
	before := must(cfg.boundaries(3))
	cfg.MaxBlocks, cfg.Extended = 40, []Extension{{After: 10, MaxBlocks: 10}}
	after := must(cfg.boundaries(3))
	for n := FirstAnalysis; n <= 10; n++ {
		a, b := before.TwoSided[n-FirstAnalysis], after.TwoSided[n-FirstAnalysis]
		if math.Abs(a-b) > 1e-9 && finite(a) {
			t.Errorf("block %d: %v, extended %v", n, a, b)
		}
	}
	if two, _ := after.at(11); len(after.TwoSided) != 38 || !(two > before.TwoSided[7]) {
		t.Errorf("block 11: %v after %v", two, before.TwoSided[7])
	}
	for _, bad := range [][]Extension{{{After: 12, MaxBlocks: 10}}, {{After: 40, MaxBlocks: 40}},
		{{After: 8, MaxBlocks: 10}, {After: 7, MaxBlocks: 20}}} {
		cfg.Extended = bad
		if err := cfg.check(3); !errors.Is(err, ErrConfig) {
			t.Errorf("%v: %v", bad, err)
		}
	}
	cfg.Rules, cfg.Extended = 2, []Extension{{After: 10, MaxBlocks: 10}}
	if err := cfg.check(3); !errors.Is(err, ErrConfig) {
		t.Errorf("rules 2: %v", err)
	}
}

// Boundaries that were stored equal the computed ones, and are taken in their place.
func TestStoredBoundaries(t *testing.T) {
	for _, arms := range []int{2, 5} {
		cfg := DefaultConfig()
		cfg.MaxBlocks, cfg.Extended = 70, []Extension{{After: 10, MaxBlocks: 20}}
		d, err := cfg.Design(arms)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		var back Design
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		want, err := cfg.boundaries(arms)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Known = []Design{back}
		if got, ok := cfg.known(arms); !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%d arms: stored %v\n%+v\ncomputed\n%+v", arms, ok, got, want)
		}
		back.TwoSided[len(back.TwoSided)-1] = 99
		if b, err := cfg.boundaries(arms); err != nil || b.TwoSided[len(b.TwoSided)-1] != 99 {
			t.Errorf("%d arms: computed although they are stored: %v", arms, err)
		}
		cfg.MaxBlocks++
		if cfg.Knows(arms) {
			t.Error("known for another number of blocks")
		}
	}
}
