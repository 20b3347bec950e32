package drive

import (
	"time"

	"filewise"
)

// Still holds the standstills while a load was measured, found by clocks alone.
type Still struct {
	// Machine is the time within the window in which this process, or the whole machine, did not run: suspended, stopped,
	// or without CPU that others used. Zero means it always ran.
	Machine time.Duration `json:"machine_ns,omitempty"`
	// Server is the longest time within the window in which this process ran but no call ended.
	Server time.Duration `json:"server_ns,omitempty"`
	// Stopped reports whether a process of the server was seen stopped (state T) in that time.
	Stopped bool `json:"stopped,omitempty"`
}

// Plus adds the standstills of another part of the same window.
func (s Still) Plus(o Still) Still {
	return Still{s.Machine + o.Machine, max(s.Server, o.Server), s.Stopped || o.Stopped}
}

// beatEvery is the interval of a heart's beats. A beat that is late by less than leastStill does not count, because
// busy cores delay beats too.
const (
	beatEvery  = 50 * time.Millisecond
	leastStill = 200 * time.Millisecond
	stealEvery = 10 // beats between two readings of the time that other virtual machines took
)

// StillLimit returns how long a standstill in a window may last before it counts. It is a second, or a twentieth of the
// window if that is less, but at least the 200 ms that busy cores explain.
func StillLimit(window time.Duration) time.Duration {
	return max(leastStill, min(time.Second, window/20))
}

// Heart reads this process's clocks regularly, to detect standstills.
type Heart struct {
	begun time.Time
	read  func() clocks
	total func() int64 // operations done. Nil means nothing is driven
	look  func() bool  // whether a process of the server is stopped. Nil means it cannot be seen

	last      clocks
	steal     clocks // at the last reading of the stolen time
	beats     int
	gaps      []gap
	idleFrom  time.Time
	operation int64
	idle      []gap

	stop, gone chan struct{}
}

// gap is a period in which something stood still.
type gap struct {
	from, to time.Time
	slept    time.Duration // in addition: the clock of from and to does not count this
	stopped  bool          // a process was seen stopped in it
}

// clocks is one reading of the clocks. Its time is monotonic, which does not advance while the machine is suspended.
type clocks struct {
	at        time.Time
	suspended time.Duration // in total since the machine started
	stolen    time.Duration // per core on average, in total; read now and then
}

// Beat starts a heart for a measured period. The caller must call Still.
func Beat(total func() int64, stopped func() bool) *Heart {
	h := newHeart(readClocks, total, stopped)
	h.stop, h.gone = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(h.gone)
		tick := time.NewTicker(beatEvery)
		defer tick.Stop()
		for {
			select {
			case <-h.stop:
				h.beat()
				return
			case <-tick.C:
				h.beat()
			}
		}
	}()
	return h
}

func newHeart(read func() clocks, total func() int64, stopped func() bool) *Heart {
	h := &Heart{read: read, total: total, look: stopped}
	h.last = read()
	h.begun, h.steal, h.idleFrom = h.last.at, h.last, h.last.at
	return h
}

// beat compares the clocks with the last beat.
func (h *Heart) beat() {
	now := h.read()
	slept := now.suspended - h.last.suspended
	ran := true
	if late := now.at.Sub(h.last.at) - beatEvery; late >= leastStill || slept >= leastStill {
		h.gaps = append(h.gaps, gap{from: h.last.at, to: h.last.at.Add(max(late, 0)), slept: slept})
		ran = false
	}
	h.last = now
	if h.beats++; h.beats%stealEvery == 0 {
		if took, stolen := now.at.Sub(h.steal.at), now.stolen-h.steal.stolen; ran && stolen > took/2 {
			h.gaps = append(h.gaps, gap{from: h.steal.at, to: h.steal.at.Add(min(stolen, took))})
		}
		h.steal = now
	}
	if h.total != nil {
		h.progress(now.at, ran)
	}
}

// progress records the periods in which no operation ended while this process ran.
func (h *Heart) progress(now time.Time, ran bool) {
	if done := h.total(); done != h.operation || !ran {
		h.operation, h.idleFrom = done, now
		return
	}
	if now.Sub(h.idleFrom) < leastStill {
		return
	}
	last := len(h.idle) - 1
	if last < 0 || !h.idle[last].from.Equal(h.idleFrom) {
		h.idle = append(h.idle, gap{from: h.idleFrom})
		last++
	}
	h.idle[last].to = now
	if h.look != nil && !h.idle[last].stopped {
		h.idle[last].stopped = h.look()
	}
}

// Still stops the heart and returns the standstills between two times.
func (h *Heart) Still(from, to time.Time) (s Still) {
	if h.stop != nil {
		close(h.stop)
		<-h.gone
	}
	for _, g := range h.gaps {
		s.Machine += g.within(from, to)
	}
	for _, g := range h.idle {
		if d := g.within(from, to); d > 0 {
			s.Server, s.Stopped = max(s.Server, d), s.Stopped || g.stopped
		}
	}
	return s
}

// within returns the part of the gap between two times.
func (g gap) within(from, to time.Time) time.Duration {
	if g.to.Before(from) || g.from.After(to) {
		return 0
	}
	start, end := g.from, g.to
	if start.Before(from) {
		start = from
	}
	if end.After(to) {
		end = to
	}
	return end.Sub(start) + g.slept
}

// heart starts a heart for the run. It returns nil with a virtual clock.
func (r *run) heart() *Heart {
	if _, real := r.load.Clock.(filewise.RealClock); !real {
		return nil
	}
	return Beat(r.total, r.load.Stopped)
}

// still returns the standstills within the window. For fixed work, or if all work counts, it covers the whole time.
func (r *run) still(h *Heart, m filewise.Measure) Still {
	if h == nil {
		return Still{}
	}
	from, to := r.start.Add(m.Window[0]), r.start.Add(m.Window[1])
	if r.load.AllCounts {
		from, to = r.start, time.Now()
	}
	s := h.Still(from, to)
	if s.Server < r.unusual(m) {
		s.Server, s.Stopped = 0, false
	}
	return s
}

// unusual returns the time from which it is unusual that no call ends: ten times the time between two calls, and ten
// times the duration of one, but at least StillLimit.
func (r *run) unusual(m filewise.Measure) time.Duration {
	window := m.Window[1] - m.Window[0]
	least := StillLimit(window)
	if r.load.Pause != nil || r.load.NoLatencies {
		least = max(least, time.Second)
	}
	hist, err := DecodeHist(m.Hist)
	if err != nil || hist.TotalCount() == 0 {
		return max(least, window/4)
	}
	between := window / time.Duration(hist.TotalCount())
	usual := time.Duration(hist.ValueAtPercentile(50)) * time.Microsecond
	return max(least, min(10*between, window/2), min(10*usual, window/2))
}
