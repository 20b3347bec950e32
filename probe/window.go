package probe

import (
	"math"
	"time"

	"filewise"
)

// Window is what was measured between two readings.
type Window struct {
	From, To time.Time
	// Ends are the times at which each session's work ended, behind To as a rule: a
	// call that began in the window is carried through.
	Ends []time.Time
}

// offWindow is from when counters are said to be of another time than the window.
const offWindow = 0.03

// Within is Delta, for a window: where a probe was read so late, at either edge,
// that the sessions worked noticeably longer or shorter between its two readings
// than the window is, their waits are cut, or stretched, to the window, of whose
// time they are a share. Amounts are left alone: where reading is late the machine
// is held up, and the work too; bytes of the log per row, which ought to be the same
// in all trials, differed by 4.7 % as they were read, and by 5.8 % when scaled.
func (s *Set) Within(a, b Snapshot, w Window) []filewise.Delta {
	deltas := s.Delta(a, b)
	factors := make(map[string]float64, len(a.readings))
	for i := range min(len(a.readings), len(b.readings)) {
		factors[a.readings[i].probe] = w.factor(a.readings[i].at, b.readings[i].at)
	}
	for i, d := range deltas {
		if f, ok := factors[d.Probe]; ok && d.Class != "" && d.Unit == "s" {
			deltas[i].Value *= f
		}
	}
	return deltas
}

// factor is the window against the time that the sessions worked, on average,
// between two readings; 1 where they hardly differ, or so much that a factor says
// nothing.
func (w Window) factor(a, b time.Time) float64 {
	if a.Before(w.From) {
		a = w.From
	}
	var worked time.Duration
	for _, end := range w.Ends {
		if end.Before(w.To) { // it waited for its next commit
			end = w.To
		}
		if end.After(b) {
			end = b
		}
		worked += max(end.Sub(a), 0)
	}
	f := float64(w.To.Sub(w.From)) * float64(len(w.Ends)) / float64(worked)
	if worked <= 0 || math.Abs(f-1) <= offWindow || f > 2 || f < 0.5 {
		return 1
	}
	return f
}
