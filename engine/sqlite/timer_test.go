package sqlite

import (
	"sync"
	"testing"
	"time"

	"filewise"
)

// A wait that is open is read with its part so far, and no reading is less than
// one before it, however the two meet.
func TestTimer(t *testing.T) {
	tm := &timer{}
	if n, nanos := tm.read(time.Millisecond); n != 0 || nanos != 0 {
		t.Errorf("before any wait: %d, %d ns", n, nanos)
	}
	tm.end(tm.begin(), time.Hour)
	if n, nanos := tm.read(time.Millisecond); n != 0 || nanos != 0 {
		t.Errorf("what takes less than a wait: %d, %d ns", n, nanos)
	}
	start := tm.begin()
	var open int64
	for deadline := time.Now().Add(10 * time.Second); open == 0 && time.Now().Before(deadline); {
		_, open = tm.read(time.Millisecond)
	}
	if n, _ := tm.read(time.Millisecond); n != 0 || open < int64(time.Millisecond) {
		t.Errorf("of the open wait %d ns, %d ended", open, n)
	}
	tm.end(start, time.Millisecond)
	if n, nanos := tm.read(time.Millisecond); n != 1 || nanos < open {
		t.Errorf("of the ended wait %d ns, %d ended; while it was open %d ns", nanos, n, open)
	}

	fast := &timer{}
	var waits sync.WaitGroup
	waits.Go(func() {
		for range 20000 {
			fast.end(fast.begin(), 0)
		}
	})
	last := int64(0)
	for n := int64(0); n < 20000; {
		var nanos int64
		if n, nanos = fast.read(0); nanos < last {
			t.Fatalf("it fell from %d to %d ns", last, nanos)
		} else {
			last = nanos
		}
	}
	waits.Wait()
}

// A session that waits for the write lock while the counters are read has waited
// already, and goes on from the end of that reading.
func TestOpenLockWait(t *testing.T) {
	w := inserts(t, 1, 100, 1)
	db := build(t, target(t.TempDir()), layout(1, 1<<20), w)
	d := db.Build.(*database)
	holder, err := open(d.files[0].path)
	must(t, err)
	must(t, holder.exec(t.Context(), "BEGIN IMMEDIATE"))
	s, err := db.Connect(t.Context(), 0, 0)
	must(t, err)
	ended := make(chan error, 1)
	go func() {
		_, err := s.Do(t.Context(), 0, 1)
		ended <- err
	}()
	waited := func() (seconds, n float64) {
		counters, err := d.waits(t.Context())
		must(t, err)
		for _, c := range counters {
			if c.Class == filewise.WaitLock && c.Unit == "s" {
				seconds = c.Value
			} else if c.Class == filewise.WaitLock {
				n = c.Value
			}
		}
		return seconds, n
	}
	var open float64
	for deadline := time.Now().Add(20 * time.Second); open < 0.01 && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		open, _ = waited()
	}
	if _, n := waited(); open < 0.01 || n != 0 {
		t.Errorf("while it waits: %v s, %v waits that have ended", open, n)
	}
	must(t, holder.exec(t.Context(), "ROLLBACK"))
	must(t, <-ended)
	if all, n := waited(); all < open || n != 1 {
		t.Errorf("when it has waited: %v s, %v waits; before %v s", all, n, open)
	}
	must(t, s.Close())
	must(t, holder.Close())
}
