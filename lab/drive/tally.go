package drive

import (
	"sync"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"filewise"
)

// maxTallies bounds the memory of 2,000 workers: a histogram is 90 KB, the slices of an hour are 280 KB. Up to this
// number each worker has its own tally, so that its lock is never waited for. Beyond it workers share tallies. There
// are then many more workers than cores, so two hardly ever need a tally at the same instant.
const maxTallies = 64

// tally counts the calls of some of the workers: when they ended, their latencies, and their failures. The padding
// keeps two tallies out of one cache line.
type tally struct {
	mu       sync.Mutex
	slices   slices
	hist     *hdr.Histogram
	service  *hdr.Histogram // open loop: from the real start of a call. Nil in a closed loop
	unserved int64          // arrivals in the window that no worker took
	failures map[filewise.Class]int64
	types    []typeTally // per type of operation. Empty means there are no types
	_        [128]byte
}

// span holds the start and end of a call, and the time since which its latency counts.
type span struct{ start, end, since time.Duration }

// part is a call's contribution to the measure of its type.
type part struct {
	kind int
	work float64 // within the window
}

func newTally(r *run) *tally {
	expected := r.load.WarmUp + r.load.Window + time.Second
	if r.load.Window == 0 {
		expected = time.Minute
	}
	t := &tally{slices: newSlices(r.load.SliceLength, expected), hist: usualHists.Get().(*hdr.Histogram)}
	if r.load.Rate > 0 {
		t.service = usualHists.Get().(*hdr.Histogram)
	}
	for range r.load.Types {
		t.types = append(t.types, typeTally{hist: usualHists.Get().(*hdr.Histogram)})
	}
	return t
}

// call counts a call that committed n operations. If timed, it also counts the latency, from the time when the call
// should have begun.
func (t *tally) call(r *run, at span, n int64, timed bool, of part) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n > 0 {
		t.slices.credit(at.start, at.end, n)
	}
	if len(t.types) > 0 {
		t.types[of.kind].call(r, at, of, timed)
	}
	if !timed {
		return
	}
	t.record(&r.long, at.end-at.since)
	if t.service != nil {
		if us := micros(at.end - at.start); t.service.RecordValue(us) != nil {
			r.longService.record(us)
		}
	}
}

// record counts a latency. The lock must be held.
func (t *tally) record(long *longCalls, latency time.Duration) {
	if us := micros(latency); t.hist.RecordValue(us) != nil { // beyond the usual range
		long.record(us)
	}
}

// failed counts a failure of an operation of the given type.
func (t *tally) failed(c filewise.Class, kind int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	count(&t.failures, c, 1)
	if len(t.types) > 0 {
		count(&t.types[kind].failures, c, 1)
	}
}

// count adds n to an entry of a map, and creates the map if needed.
func count(m *map[filewise.Class]int64, c filewise.Class, n int64) {
	if *m == nil {
		*m = map[filewise.Class]int64{}
	}
	(*m)[c] += n
}

// failuresOf adds up the failures of all tallies. It returns nil if there are none.
func failuresOf(all []*tally) map[filewise.Class]int64 {
	var sum map[filewise.Class]int64
	for _, t := range all {
		for c, n := range t.failures {
			count(&sum, c, n)
		}
	}
	return sum
}
