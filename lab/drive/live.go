package drive

import (
	"sync"
	"sync/atomic"
	"time"

	"filewise"
)

// Phase is a part of a run.
type Phase int32

// Phases of a run, in order. Fixed work has no warm-up.
const (
	PhaseIdle Phase = iota // not started
	PhaseWarmUp
	PhaseMeasure
	PhaseDrain // after the window's end: workers finish their last call
	PhaseOver
)

func (p Phase) String() string {
	return [...]string{"idle", "warm-up", "measure", "drain", "over"}[p]
}

// Live is the progress of a run. A display may read it at any time; reading costs the workers nothing. A Live may serve
// several runs one after the other.
type Live struct {
	run atomic.Pointer[run]

	mu       sync.Mutex
	of       *run
	readings []reading
}

type reading struct {
	at    time.Time
	total int64
}

// Phase returns the run's present phase.
func (l *Live) Phase() Phase {
	if r := l.run.Load(); r != nil {
		return Phase(r.phase.Load())
	}
	return PhaseIdle
}

// Started returns the common start of the workers. It returns false before the start.
func (l *Live) Started() (at time.Time, ok bool) {
	r := l.run.Load()
	if r == nil || Phase(r.phase.Load()) == PhaseIdle {
		return time.Time{}, false
	}
	return r.start, true
}

// Stage returns a trial's stage. While a run is in progress it returns the run's phase instead. A nil Live is allowed.
func (l *Live) Stage(stage string) string {
	if l == nil || stage != filewise.StageMeasure {
		return stage
	}
	if ph := l.Phase(); ph != PhaseIdle && ph != PhaseOver {
		return ph.String()
	}
	return stage
}

// Operations returns the number of operations committed so far, including the warm-up.
func (l *Live) Operations() int64 {
	r := l.run.Load()
	if r == nil {
		return 0
	}
	return r.total()
}

// liveSpan is the time over which the present throughput is computed.
const liveSpan = time.Second

// Throughput returns operations per second since the latest reading that is at least a second old, or else since the
// start. Now is a time of the run's clock. It returns 0 if there is no such reading.
func (l *Live) Throughput(now time.Time) float64 {
	start, ok := l.Started()
	if !ok {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.run.Load()
	if l.of != r {
		l.of, l.readings = r, append(l.readings[:0], reading{at: start})
	}
	for len(l.readings) > 1 && now.Sub(l.readings[1].at) >= liveSpan {
		l.readings = l.readings[1:]
	}
	total, from := r.total(), l.readings[0]
	if n := len(l.readings); now.Sub(l.readings[n-1].at) >= liveSpan/20 {
		l.readings = append(l.readings, reading{at: now, total: total})
	}
	if d := now.Sub(from.at); d > 0 {
		return float64(total-from.total) / d.Seconds()
	}
	return 0
}

// Slices returns the work of every slice from the given one on, including the warm-up, and the slices' length. Calls in
// progress count at their end, so recent slices may still grow. Each tally is locked only while its slices are added
// up.
func (l *Live) Slices(from int) (length time.Duration, counts []int64) {
	r := l.run.Load()
	if r == nil || Phase(r.phase.Load()) == PhaseIdle {
		return 0, nil
	}
	for _, t := range r.tallies {
		counts = t.addSlices(counts, from)
	}
	return r.load.SliceLength, counts
}

// addSlices adds the slices from the given one on, without trailing slices in which nothing was done yet.
func (t *tally) addSlices(sum []int64, from int) []int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := from; i < len(t.slices.counts); i++ {
		n := t.slices.counts[i]
		for n > 0 && len(sum) <= i-from {
			sum = append(sum, 0)
		}
		if n > 0 {
			sum[i-from] += n
		}
	}
	return sum
}
