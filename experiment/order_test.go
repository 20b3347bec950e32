package experiment

import (
	"slices"
	"testing"
)

// In every cycle each layout follows each other equally often, and each block has
// every layout once; the seed decides, and an earlier plan's order is as it was.
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
