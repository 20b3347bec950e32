package experiment

import (
	"slices"
	"testing"

	"filewise"
)

// In every cycle each layout follows each other equally often, and each block has every layout once; the seed
// decides, and an earlier plan's order is unchanged.
func TestOrderIsBalanced(t *testing.T) {
	for k := 2; k <= 12; k++ {
		live := make([]int, k)
		for i := range live {
			live[i] = 3 * i
		}
		p := Plan{Rules: 2, Seed: uint64(k)}
		rows, times := k, 1
		if k%2 == 1 {
			rows, times = 2*k, 2
		}
		for cycle := range 3 {
			follows := map[[2]int]int{}
			for b := cycle*rows + 1; b <= (cycle+1)*rows; b++ {
				o := p.order(b, live)
				if !slices.Equal(slices.Sorted(slices.Values(o)), live) {
					t.Fatalf("block %d of %d layouts: %v", b, k, o)
				}
				for i := 1; i < k; i++ {
					follows[[2]int{o[i-1], o[i]}]++
				}
			}
			for pair, n := range follows {
				if n != times || len(follows) != k*(k-1) {
					t.Fatalf("%d layouts: %v %d times, of %d pairs", k, pair, n, len(follows))
				}
			}
		}
	}
	a, b := Plan{Rules: 2, Seed: 1}, Plan{Rules: 2, Seed: 2}
	live, differ := []int{0, 1, 2, 3, 4}, false
	for n := 1; n <= 10; n++ {
		if !slices.Equal(a.order(n, live), a.order(n, live)) {
			t.Error("the same block has two orders")
		}
		differ = differ || !slices.Equal(a.order(n, live), b.order(n, live))
	}
	if !differ {
		t.Error("the seed does not matter")
	}
	if got := (Plan{Seed: 1}).order(1, []int{0, 1, 2, 3, 4}); !slices.Equal(got, []int{1, 0, 2, 3, 4}) {
		t.Errorf("the order of a stored run has changed: %v", got)
	}
}

// Chained blocks and rounds (rules 3): in each cycle every layout follows every one, itself included, equally often,
// and has each place equally often; two layouts go A B, B A. The next cycle continues the one before, and what goes
// before the first row ends with what begins it.
func TestChainedOrderIsBalanced(t *testing.T) {
	for n := 2; n <= 13; n++ {
		rows := 2 * n
		if n == 2 {
			rows = 2
		}
		for seed := range uint64(5) {
			p := Plan{Rules: 3, Seed: seed}
			for name, row := range map[string]func(at int) []int{
				"blocks": func(at int) []int { return p.order(at, upTo(n)) },
				"rounds": func(at int) []int { return p.turnOrder(filewise.Cell{Block: 4, Attempt: 1}, at, n) },
			} {
				last := row(0)[n-1]
				for cycle := range 3 {
					follows, places := map[[2]int]int{}, map[[2]int]int{}
					for at := cycle*rows + 1; at <= (cycle+1)*rows; at++ {
						o := row(at)
						if !slices.Equal(slices.Sorted(slices.Values(o)), upTo(n)) || o[0] != last {
							t.Fatalf("%s, row %d of %d layouts: %v after %d", name, at, n, o, last)
						}
						for i, k := range o {
							follows[[2]int{last, k}]++
							places[[2]int{k, i}]++
							last = k
						}
					}
					for what, counts := range map[string]map[[2]int]int{"follows": follows, "is at": places} {
						for pair, times := range counts {
							if times != rows/n || len(counts) != n*n {
								t.Fatalf("%s of %d layouts: %v %s %d times, of %d pairs", name, n, pair, what, times, len(counts))
							}
						}
					}
				}
			}
		}
	}
	starts := map[int]int{} // of two layouts, drawn again for each interleaved block
	for block := range 200 {
		starts[Plan{Rules: 3}.turnOrder(filewise.Cell{Block: block, Attempt: 1}, 1, 2)[0]]++
	}
	if starts[0] < 70 || starts[1] < 70 {
		t.Errorf("blocks begin with %v", starts)
	}
}
