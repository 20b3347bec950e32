package drive

import (
	"testing"
	"time"

	"filewise"
)

// A heart that beats late, a machine that slept, and stolen processors are gaps; busy processors are not. A server
// that does nothing while the heart beats is another matter.
func TestHeart(t *testing.T) {
	for name, test := range map[string]struct {
		step func(i int, c *clocks, done *int64)
		want Still
	}{
		"runs": {func(_ int, _ *clocks, done *int64) { *done++ }, Still{}},
		"busy": {func(i int, c *clocks, done *int64) {
			*done++
			c.at = c.at.Add(time.Duration(i%3) * 60 * ms)
		}, Still{}},
		"stopped": {func(i int, c *clocks, done *int64) {
			if *done++; i == 10 {
				c.at = c.at.Add(2 * time.Second)
			}
		}, Still{Machine: 2 * time.Second}},
		"suspended": {func(i int, c *clocks, done *int64) {
			if *done++; i == 10 {
				c.suspended += time.Hour
			}
		}, Still{Machine: time.Hour}},
		"stolen": {func(i int, c *clocks, done *int64) {
			if *done++; i >= 10 && i < 20 {
				c.stolen += 40 * ms
			}
		}, Still{Machine: 400 * ms}},
		"server": {func(i int, _ *clocks, done *int64) {
			if i < 10 || i >= 50 {
				*done++
			}
		}, Still{Server: 2 * time.Second, Stopped: true}},
	} {
		t.Run(name, func(t *testing.T) {
			now, done := clocks{at: time.Unix(1e9, 0)}, int64(0)
			h := newHeart(func() clocks { return now }, func() int64 { return done }, func() bool { return true })
			for i := range 80 {
				now.at = now.at.Add(beatEvery)
				test.step(i, &now, &done)
				h.beat()
			}
			got := h.Still(h.begun, now.at)
			for _, d := range []time.Duration{got.Machine - test.want.Machine, got.Server - test.want.Server} {
				if d.Abs() > beatEvery {
					t.Errorf("%+v, want %+v", got, test.want)
				}
			}
			if got.Stopped != test.want.Stopped {
				t.Errorf("stopped: %v", got.Stopped)
			}
		})
	}
}

// What lies outside of the window is no part of it.
func TestGapWithin(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	g := gap{from: at(10), to: at(20)}
	for want, w := range map[time.Duration][2]int{0: {30, 40}, 5 * time.Second: {15, 40}, 3 * time.Second: {0, 13},
		10 * time.Second: {0, 40}} {
		if got := g.within(at(w[0]), at(w[1])); got != want {
			t.Errorf("within %v: %v, want %v", w, got, want)
		}
	}
	if got := StillLimit(time.Hour); got != time.Second {
		t.Errorf("limit of an hour: %v", got)
	}
	if got := StillLimit(10 * time.Second); got != 500*ms {
		t.Errorf("limit of 10 s: %v", got)
	}
}

// A standstill before the window counts if what is done then does.
func TestStillAroundTheWindow(t *testing.T) {
	for all, want := range map[bool]time.Duration{false: 0, true: time.Second} {
		r := &run{load: Load{AllCounts: all}, start: time.Now().Add(-10 * time.Second)}
		h := &Heart{gaps: []gap{{from: r.start.Add(time.Second), to: r.start.Add(2 * time.Second)}}}
		if got := r.still(h, filewise.Measure{Window: [2]time.Duration{5 * time.Second, 6 * time.Second}}); got.Machine != want {
			t.Errorf("all counts %v: %v", all, got.Machine)
		}
	}
}
