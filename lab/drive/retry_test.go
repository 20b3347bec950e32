package drive

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"filewise"
)

func deadlock() error {
	return fmt.Errorf("insert: %w", &filewise.Classed{Class: filewise.ClassDeadlock, Err: errors.New("1213")})
}

// failsAt is a session that commits what comes before each failing operation,
// fails there so often, and takes a millisecond for each call.
func failsAt(v *virtual, err error, fails map[int64]int) filewise.Session {
	next := int64(0)
	return doFunc(func(_ context.Context, first, n int64) (int64, error) {
		v.advance(ms)
		if first != next {
			return 0, fmt.Errorf("operation %d comes after %d", first, next)
		}
		for i := first; i < first+n; i++ {
			if fails[i] > 0 {
				fails[i]--
				next = i
				return i - first, err
			}
		}
		next = first + n
		return n, nil
	})
}

// What may be tried again is, from the first operation that is not committed:
// all work is done, each failure is counted, and no latency is hidden.
func TestRetry(t *testing.T) {
	v := newVirtual()
	res, err := Run(t.Context(), Load{
		Sessions: []filewise.Session{failsAt(v, deadlock(), map[int64]int{0: 1, 7: 3, 19: 1})}, Clock: v,
		Chunk: 5, Ops: []int64{20}, Retry: []filewise.Class{filewise.ClassSerialization, filewise.ClassDeadlock},
	})
	if err != nil {
		t.Fatal(err)
	}
	if res.Ledger[0] != 20 || sum(res.Measure.Slices) != 20 || res.Measure.Work != 20 {
		t.Errorf("ledger %v, slices %v, work %v", res.Ledger, res.Measure.Slices, res.Measure.Work)
	}
	if n := res.Measure.Errors[filewise.ClassDeadlock]; n != 5 || len(res.Measure.Errors) != 1 {
		t.Errorf("failures %v, 5 deadlocks were planted", res.Measure.Errors)
	}
	h, err := DecodeHist(res.Measure.Hist)
	if err != nil {
		t.Fatal(err)
	}
	// 3 failures, their pauses of at least 0.5, 1 and 2 ms, and the success: 7.5 ms.
	if h.Max() < 7500 {
		t.Errorf("the longest latency is %d µs: the failures before the success are not in it", h.Max())
	}
}

func TestRetryFollowsFromTheSeed(t *testing.T) {
	took := func(seed uint64) time.Duration {
		v := newVirtual()
		res, err := Run(t.Context(), Load{Sessions: []filewise.Session{failsAt(v, deadlock(), map[int64]int{3: 6})}, Clock: v,
			Chunk: 5, Ops: []int64{20}, Retry: []filewise.Class{filewise.ClassDeadlock}, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		return res.Measure.Window[1]
	}
	if a, b, c := took(1), took(1), took(2); a != b || a == c {
		t.Errorf("seeds 1, 1, 2 took %v, %v, %v", a, b, c)
	}
}

// A key that is there already is tried again at once with other values, and counted; if no value was drawn, it ends the work.
func TestDuplicates(t *testing.T) {
	duplicate := &filewise.Classed{Class: filewise.ClassDuplicate, Err: errors.New("1062")}
	for drawn, err := range map[bool]error{true: duplicate, false: &filewise.Unvaried{Err: duplicate}} {
		v := newVirtual()
		res, ended := Run(t.Context(), Load{Sessions: []filewise.Session{failsAt(v, err, map[int64]int{7: 3})}, Clock: v, Chunk: 5,
			Ops: []int64{20}, Retry: []filewise.Class{filewise.ClassDuplicate}})
		if drawn != (ended == nil) || drawn && (res.Measure.Errors[filewise.ClassDuplicate] != 3 ||
			res.Ledger[0] != 20) {
			t.Errorf("%v: %v, %v", err, ended, res.Measure.Errors)
		}
	}
}

// A failure that is not to be tried again ends the run, is counted, and names its class.
func TestOtherFailuresAreNotTriedAgain(t *testing.T) {
	v := newVirtual()
	lost := &filewise.Classed{Class: filewise.ClassConnection, Err: errors.New("server has gone away")}
	res, err := Run(t.Context(), Load{Sessions: []filewise.Session{failsAt(v, lost, map[int64]int{7: 1})}, Clock: v,
		Chunk: 5, Ops: []int64{20}, Retry: []filewise.Class{filewise.ClassDeadlock}})
	if err == nil || !strings.Contains(err.Error(), "operation 7 (connection): server has gone away") {
		t.Errorf("error %v", err)
	}
	if res.Ledger[0] != 7 || res.Measure.Errors[filewise.ClassConnection] != 1 {
		t.Errorf("ledger %v, failures %v", res.Ledger, res.Measure.Errors)
	}
}

// An operation that never succeeds ends the run at the window's end, and without
// a window after a bounded number of tries.
func TestRetryIsBounded(t *testing.T) {
	for name, load := range map[string]Load{"window": {Window: 5 * time.Second, WarmUp: time.Second}, "work": {Ops: []int64{20}}} {
		v := newVirtual()
		edges := 0
		load.Sessions = []filewise.Session{failsAt(v, deadlock(), map[int64]int{3: 1 << 40})}
		load.Clock, load.Chunk, load.Retry = v, 5, []filewise.Class{filewise.ClassDeadlock}
		load.Edge = func(context.Context, Edge) { edges++ }
		res, err := Run(t.Context(), load)
		switch {
		case load.Window > 0 && (err != nil || edges != 2 || res.Measure.Window != [2]time.Duration{time.Second, 6 * time.Second}):
			t.Errorf("%s: error %v, %d edges, window %v", name, err, edges, res.Measure.Window)
		case load.Window == 0 && (err == nil || !strings.Contains(err.Error(), "in a row")):
			t.Errorf("%s: error %v", name, err)
		}
		if res.Ledger[0] != 3 || res.Measure.Errors[filewise.ClassDeadlock] < 20 {
			t.Errorf("%s: ledger %v, failures %v", name, res.Ledger, res.Measure.Errors)
		}
	}
}

// 2,000 workers keep their accounts right in the few tallies that they share.
func TestManyWorkersShareTallies(t *testing.T) {
	var ops []int64
	for range 2000 {
		ops = append(ops, 20)
	}
	all := sessions(2000, func(i int) filewise.Session {
		return failsAt(newVirtual(), deadlock(), map[int64]int{int64(i % 20): 1})
	})
	res, err := Run(t.Context(), Load{Sessions: all, Chunk: 1, Ops: ops, Retry: []filewise.Class{filewise.ClassDeadlock}})
	if err != nil {
		t.Fatal(err)
	}
	h, err := DecodeHist(res.Measure.Hist)
	if err != nil || h.TotalCount() != 40_000 || sum(res.Measure.Slices) != 40_000 || res.Measure.Errors[filewise.ClassDeadlock] != 2000 {
		t.Errorf("%d latencies, %d in slices, %v failures (%v)", h.TotalCount(), sum(res.Measure.Slices), res.Measure.Errors, err)
	}
}
