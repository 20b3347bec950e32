package web

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"filewise"
	"filewise/lab/drive"
	"filewise/results/report"
)

// Course holds the throughput within a trial, from the start of its warm-up.
type Course struct {
	Block  int        `json:"block"`
	Step   float64    `json:"step_seconds"`
	Values []float64  `json:"per_second"`
	Window [2]float64 `json:"window_seconds"` // measured part; 0 and 0 if not known yet
}

// coursePoints is the most points of a course.
const coursePoints = 48

// courseOf sums slices into at most coursePoints steps. An incomplete last step is left out.
func courseOf(length time.Duration, counts []int64) Course {
	if length <= 0 || len(counts) == 0 {
		return Course{}
	}
	n := (len(counts) + coursePoints - 1) / coursePoints
	step := time.Duration(n) * length
	c := Course{Step: step.Seconds()}
	for _, x := range report.Rates(counts, n, step) {
		c.Values = append(c.Values, round3(x))
	}
	return c
}

// courseOfMeasure returns the course of a finished trial up to the end of its window.
func courseOfMeasure(t filewise.Trial, m filewise.Measure) Course {
	counts := m.Slices
	if m.SliceLength > 0 {
		counts = counts[:min(len(counts), int(m.Window[1]/m.SliceLength))]
	}
	c := courseOf(m.SliceLength, counts)
	c.Block, c.Window = t.Cell.Block, [2]float64{m.Window[0].Seconds(), m.Window[1].Seconds()}
	return c
}

// earlierShown is the most earlier trials that are drawn with the running one.
const earlierShown = 5

// earlier returns the courses of the layout's last trials, the newest last.
func earlier(trials []filewise.Trial, layout, operation string) []Course {
	var out []Course
	for i := len(trials) - 1; i >= 0 && len(out) < earlierShown; i-- {
		t := trials[i]
		if t.Cell.Layout != layout || t.Cell.Pilot || t.State != filewise.Done {
			continue
		}
		for _, m := range t.Measures {
			if c := courseOfMeasure(t, m); m.Operation == operation && len(c.Values) > 0 {
				out = append([]Course{c}, out...)
			}
		}
	}
	return out
}

// round3 rounds to three digits. More digits are noise, and cost bytes to send.
func round3(x float64) float64 {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	scale := math.Pow(10, math.Floor(math.Log10(math.Abs(x)))-2)
	return math.Round(x/scale) * scale
}

// soFar holds the course of the running trial. Only its recent slices are read again.
type soFar struct {
	mu     sync.Mutex
	live   *drive.Live
	counts []int64
}

// settled is the age from which a slice no longer changes, except by calls that take as long.
const settled = 30 * time.Second

func (s *soFar) of(live *drive.Live) Course {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live != live {
		s.live, s.counts = live, nil
	}
	length, _ := live.Slices(math.MaxInt)
	if length <= 0 {
		return Course{}
	}
	keep := max(0, len(s.counts)-int(settled/length))
	_, late := live.Slices(keep)
	s.counts = append(slices.Clip(s.counts[:keep]), late...)
	return courseOf(length, s.counts)
}

// goneFor is the longest time that a page may be away before it counts as closed. A page that is reloaded is away for a
// moment.
const goneFor = 3 * time.Second

// Watched reports whether a page is open in a browser.
func (s *Server) Watched() bool { return s.pages.Load()+s.owned.Load() > 0 }

// Unwatched returns when no page is open any more, or when the context ends.
func (s *Server) Unwatched(ctx context.Context) {
	tick := time.NewTicker(goneFor / 10)
	defer tick.Stop()
	for seen := time.Now(); time.Since(seen) < goneFor; {
		if s.Watched() {
			seen = time.Now()
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
