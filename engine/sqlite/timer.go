package sqlite

import (
	"runtime"
	"sync/atomic"
	"time"
)

// timer adds up one session's waits of a kind, and knows the one that is open, so
// that a reading in the midst of it has its part. One goroutine waits, any may read.
type timer struct {
	changes  atomic.Uint32 // odd while what follows changes together
	since    atomic.Int64  // when the open wait began; 0: none is open
	n, nanos atomic.Int64  // of those that have ended
}

// epoch is where the clock of timers begins: before all of them.
var epoch = time.Now().Add(-time.Second)

func clock() int64 { return int64(time.Since(epoch)) }

// begin opens a wait.
func (t *timer) begin() (start int64) {
	start = clock()
	t.since.Store(start)
	return start
}

// end closes the wait, which counts as one from that time on.
func (t *timer) end(start int64, least time.Duration) {
	t.changes.Add(1)
	took := clock() - start // not before, or a reading could have had more of it
	t.since.Store(0)
	if took >= int64(least) {
		t.n.Add(1)
		t.nanos.Add(took)
	}
	t.changes.Add(1)
}

// read is the number of waits that have ended, and the time of all until now, in ns.
func (t *timer) read(least time.Duration) (n, nanos int64) {
	for {
		before := t.changes.Load()
		since := t.since.Load()
		n, nanos = t.n.Load(), t.nanos.Load()
		open := clock() - since
		if before%2 == 1 || t.changes.Load() != before {
			runtime.Gosched()
			continue
		}
		if since > 0 && open >= int64(least) {
			nanos += open
		}
		return n, nanos
	}
}
