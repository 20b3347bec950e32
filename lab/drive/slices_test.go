package drive

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestCredit(t *testing.T) {
	type call struct {
		start, end time.Duration
		n          int64
	}
	tests := []struct {
		name  string
		calls []call
		want  []int64 // trailing zeros left out
	}{
		{"within a slice", []call{{1 * ms, 2 * ms, 5}}, []int64{5}},
		{"one operation counts at its completion", []call{{1 * ms, 35 * ms, 1}}, []int64{0, 0, 0, 1}},
		{"completion on the edge belongs to the slice before", []call{{0, 10 * ms, 1}}, []int64{1}},
		{"no time passed at the start", []call{{0, 0, 3}}, []int64{3}},
		{"no time passed later", []call{{20 * ms, 20 * ms, 3}}, []int64{0, 3}},
		{"spread over two", []call{{5 * ms, 15 * ms, 10}}, []int64{5, 5}},
		{"spread over four", []call{{5 * ms, 35 * ms, 30}}, []int64{5, 10, 10, 5}},
		{"starts and ends on edges", []call{{10 * ms, 30 * ms, 20}}, []int64{0, 10, 10}},
		{"what does not divide is not lost", []call{{0, 30 * ms, 10}}, []int64{3, 3, 4}},
		{"fewer operations than slices", []call{{0, 50 * ms, 2}}, []int64{0, 0, 1, 0, 1}},
		{"nothing committed", []call{{0, 50 * ms, 0}}, nil},
		{"beyond the room made", []call{{990 * ms, 1000 * ms, 7}}, append(make([]int64, 99), 7)},
		{"product beyond 64 bits", []call{{0, 2 * time.Hour, 1 << 40}}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSlices(10*ms, 50*ms)
			var total int64
			for _, c := range tt.calls {
				s.credit(c.start, c.end, c.n)
				total += c.n
			}
			if sum(s.counts) != total {
				t.Errorf("the slices hold %d operations of %d", sum(s.counts), total)
			}
			got := s.counts
			for len(got) > 0 && got[len(got)-1] == 0 {
				got = got[:len(got)-1]
			}
			if total < 1<<40 {
				if d := cmp.Diff(tt.want, append([]int64(nil), got...)); d != "" {
					t.Errorf("slices (−want +got):\n%s", d)
				}
				return
			}
			even := float64(total) / float64(len(got))
			for i, n := range got {
				if math.Abs(float64(n)-even) > 1 {
					t.Fatalf("slice %d holds %d operations, not %.1f", i, n, even)
				}
			}
		})
	}
}

func TestWithin(t *testing.T) {
	const from, to = 10 * ms, 20 * ms
	tests := []struct {
		name       string
		start, end time.Duration
		n          int64
		want       float64
	}{
		{"inside", 12 * ms, 13 * ms, 4, 4},
		{"before", 1 * ms, 9 * ms, 4, 0},
		{"after", 21 * ms, 22 * ms, 4, 0},
		{"touching the start", 8 * ms, 10 * ms, 4, 0},
		{"touching the end", 20 * ms, 22 * ms, 4, 0},
		{"over the start", 8 * ms, 12 * ms, 4, 2},
		{"over the end", 19 * ms, 23 * ms, 4, 1},
		{"over both", 5 * ms, 25 * ms, 4, 2},
		{"one operation over the start", 5 * ms, 15 * ms, 1, 0.5},
		{"one operation over the end", 15 * ms, 20*ms + 5*ms, 1, 0.5},
		{"one operation ends on the start", 5 * ms, 10 * ms, 1, 0},
		{"one operation ends on the end", 15 * ms, 20 * ms, 1, 1},
		{"no time passed", 15 * ms, 15 * ms, 4, 4},
	}
	for _, tt := range tests {
		if got := within(tt.start, tt.end, tt.n, from, to); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%s: %v operations, want %v", tt.name, got, tt.want)
		}
	}
}

// Whatever the calls, the slices hold each operation once, none is negative, and
// the three intervals before, within and after a window hold all of them.
func TestSpreadingKeepsAllWork(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		s := newSlices(time.Duration(rng.Int64N(int64(20*ms))+1), time.Duration(rng.Int64N(int64(time.Second))))
		var at time.Duration
		var total int64
		var windows float64
		from := time.Duration(rng.Int64N(int64(time.Second)))
		to := from + time.Duration(rng.Int64N(int64(time.Second)))
		for range rng.IntN(20) {
			start := at + time.Duration(rng.Int64N(int64(ms)))
			at = start + time.Duration(rng.Int64N(int64(300*ms)))
			n := rng.Int64N(1 << rng.Int64N(30))
			s.credit(start, at, n)
			total += n
			const before = -1
			windows += within(start, at, n, before, from) + within(start, at, n, from, to) +
				within(start, at, n, to, math.MaxInt64)
		}
		if sum(s.counts) != total {
			t.Fatalf("the slices hold %d operations of %d", sum(s.counts), total)
		}
		if math.Abs(windows-float64(total)) > 1e-6*float64(total) {
			t.Fatalf("before, within and after hold %f operations of %d", windows, total)
		}
		for i, n := range s.counts {
			if n < 0 {
				t.Fatalf("slice %d holds %d operations", i, n)
			}
		}
	}
}
