package drive

import (
	"sync"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"filewise"
)

// maxTallies bounds what 2,000 workers keep: a histogram is 90 KB, the slices of
// an hour are 280 KB. Up to so many workers have a tally each, so that its lock
// is never waited for; beyond, many more workers than processors share one, and
// hardly ever at the same instant.
const maxTallies = 64

// tally is what some of the workers have done: when, how long each call took, and
// how often it failed. The padding keeps two tallies out of one cache line.
type tally struct {
	mu       sync.Mutex
	slices   slices
	hist     *hdr.Histogram
	service  *hdr.Histogram // open loop: from the real start of a call; else nil
	unserved int64          // arrivals in the window that no worker came to
	failures map[filewise.Class]int64
	_        [128]byte
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
	return t
}

// call counts a call that committed n operations. Timed, its latency counts too:
// the time since it should have begun.
func (t *tally) call(r *run, start, end, since time.Duration, n int64, timed bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n > 0 {
		t.slices.credit(start, end, n)
	}
	if !timed {
		return
	}
	t.record(&r.long, end-since)
	if t.service != nil {
		if us := micros(end - start); t.service.RecordValue(us) != nil {
			r.longService.record(us)
		}
	}
}

// record counts a latency; the lock is held.
func (t *tally) record(long *longCalls, latency time.Duration) {
	if us := micros(latency); t.hist.RecordValue(us) != nil { // beyond its range
		long.record(us)
	}
}

// failed counts a failure.
func (t *tally) failed(c filewise.Class) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.failures == nil {
		t.failures = map[filewise.Class]int64{}
	}
	t.failures[c]++
}

// failuresOf adds up the failures of all tallies; nil: none.
func failuresOf(all []*tally) map[filewise.Class]int64 {
	var sum map[filewise.Class]int64
	for _, t := range all {
		for c, n := range t.failures {
			if sum == nil {
				sum = map[filewise.Class]int64{}
			}
			sum[c] += n
		}
	}
	return sum
}
