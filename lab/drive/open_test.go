package drive

import (
	"context"
	"errors"
	"math"
	"runtime"
	"testing"
	"time"

	"filewise"
)

// Intended starts follow from the seed, have the rate, and with Poisson the gaps
// of an exponential distribution.
func TestArrivals(t *testing.T) {
	const n = 200_000
	for _, kind := range []Arrivals{"", Poisson, Uniform} {
		a, again, other := newArrivals(5000, 2, kind, 1), newArrivals(5000, 2, kind, 1), newArrivals(5000, 2, kind, 2)
		var last time.Duration
		var squares float64
		differs := false
		for i := range n {
			at := a.next()
			if at < last || at != again.next() {
				t.Fatalf("%q: arrival %d at %v after %v, or otherwise with the same seed", kind, i, at, last)
			}
			differs = differs || at != other.next()
			gap := (at - last).Seconds() - 2.0/5000
			squares += gap * gap
			last = at
		}
		if rate := 2 * n / last.Seconds(); math.Abs(rate/5000-1) > 0.012 { // 5 standard errors of Poisson's
			t.Errorf("%q: %.1f operations a second", kind, rate)
		}
		if deviation := math.Sqrt(squares/n) * 5000 / 2; kind == Uniform && deviation > 0.01 || kind != Uniform && math.Abs(deviation-1) > 0.02 {
			t.Errorf("%q: gaps deviate by %.3f of their mean", kind, deviation)
		}
		if differs == (kind == Uniform) {
			t.Errorf("%q: another seed makes a difference: %v", kind, differs)
		}
	}
}

// stalling is a session in virtual time whose operations take a millisecond, except one.
func stalling(v *virtual, at int64, stall time.Duration) filewise.Session {
	return doFunc(func(_ context.Context, first, n int64) (int64, error) {
		v.advance(ms)
		if first == at {
			v.advance(stall)
		}
		return n, nil
	})
}

// A stall of a second is felt by all whom it made wait, not by one: latency
// counts from the intended start, and the time of service apart.
func TestOpenLoopOmitsNothing(t *testing.T) {
	v := newVirtual()
	edges := 0
	res, err := Run(t.Context(), Load{Sessions: []filewise.Session{stalling(v, 300, time.Second)}, Clock: v, Chunk: 1,
		WarmUp: time.Second, Window: 9 * time.Second, Rate: 100, Arrivals: Uniform, Edge: func(context.Context, Edge) { edges++ }})
	if err != nil {
		t.Fatal(err)
	}
	latency, err := DecodeHist(res.Measure.Hist)
	if err != nil {
		t.Fatal(err)
	}
	service, err := DecodeHist(res.Service)
	if err != nil {
		t.Fatal(err)
	}
	if latency.TotalCount() != 900 || service.TotalCount() != 900 || res.Ledger[0] != 1000 || edges != 2 || res.Unserved != 0 {
		t.Errorf("%d latencies, %d services, ledger %v, %d edges, %d unserved", latency.TotalCount(), service.TotalCount(), res.Ledger, edges,
			res.Unserved)
	}
	if res.Measure.Window != [2]time.Duration{time.Second, 10 * time.Second} || math.Abs(res.Measure.Work-900) > 1 {
		t.Errorf("window %v, work %v", res.Measure.Window, res.Measure.Work)
	}
	above := func(h interface{ ValueAtPercentile(float64) int64 }, from time.Duration) (n int) {
		for i := range 900 {
			if h.ValueAtPercentile(100*(float64(i)+0.5)/900) > int64(from/time.Microsecond) {
				n++
			}
		}
		return n
	}
	// 100 arrivals fall into the stall, and it takes 11 more to work that off: half
	// of those in it wait longer than half of it.
	if n := above(latency, 500*ms); n < 45 || n > 60 {
		t.Errorf("%d operations waited for more than half a second", n)
	}
	if n := above(service, 500*ms); n != 1 {
		t.Errorf("%d operations took more than half a second", n)
	}
}

// Fixed work at a rate: each worker does its own share, at times that no other one's slowness delays, and the whole
// takes as long as the rate demands.
func TestOpenLoopOfFixedWork(t *testing.T) {
	v := newVirtual()
	quick := doFunc(func(_ context.Context, _, n int64) (int64, error) { return n, nil })
	res, err := Run(t.Context(), Load{Sessions: []filewise.Session{stalling(v, 30, time.Second)}, Clock: v, Chunk: 1,
		Ops: []int64{400}, Rate: 100, Arrivals: Uniform})
	if err != nil {
		t.Fatal(err)
	}
	latency, err := DecodeHist(res.Measure.Hist)
	if err != nil {
		t.Fatal(err)
	}
	if n := latency.TotalCount(); n != 400 || res.Ledger[0] != 400 || res.Unserved != 0 || latency.ValueAtPercentile(90) < 300_000 {
		t.Errorf("%d latencies, 90 %% within %d µs, ledger %v, %d unserved", n, latency.ValueAtPercentile(90), res.Ledger, res.Unserved)
	}
	if end := res.Measure.Window[1]; end < 3990*ms || end > 4100*ms {
		t.Errorf("400 operations at 100 a second took %v", end)
	}
	shares, err := Run(t.Context(), Load{Sessions: []filewise.Session{quick, quick}, Chunk: 3, Ops: []int64{7, 2}, Rate: 1e5})
	if err != nil || shares.Ledger[0] != 7 || shares.Ledger[1] != 2 {
		t.Errorf("ledger %v, want 7 and 2: %v", shares.Ledger, err)
	}
}

// What could not even be begun is counted, with what it had waited.
func TestOpenLoopOverloaded(t *testing.T) {
	v := newVirtual()
	res, err := Run(t.Context(), Load{Sessions: []filewise.Session{v.each(10 * ms)}, Clock: v, Chunk: 1, Window: time.Second, Rate: 1000,
		Arrivals: Uniform})
	if err != nil {
		t.Fatal(err)
	}
	h, err := DecodeHist(res.Measure.Hist)
	if err != nil {
		t.Fatal(err)
	}
	if res.Ledger[0] != 100 || res.Unserved != 900 || h.TotalCount() != 1000 {
		t.Errorf("%v operations, %d unserved, %d latencies", res.Ledger, res.Unserved, h.TotalCount())
	}
	if p50 := time.Duration(h.ValueAtPercentile(50)) * time.Microsecond; p50 < 400*ms {
		t.Errorf("the median latency is %v: those that were never begun are not in it", p50)
	}
}

// Failures that may be tried again keep their intended start.
func TestOpenLoopRetries(t *testing.T) {
	v := newVirtual()
	res, err := Run(t.Context(), Load{Sessions: []filewise.Session{failsAt(v, deadlock(), map[int64]int{7: 3})}, Clock: v, Chunk: 1,
		Window: time.Second, Rate: 50, Retry: []filewise.Class{filewise.ClassDeadlock}, Seed: 3})
	if err != nil || res.Measure.Errors[filewise.ClassDeadlock] != 3 {
		t.Fatalf("failures %v, %v", res.Measure.Errors, err)
	}
	h, err := DecodeHist(res.Measure.Hist)
	if err != nil || h.Max() < 7500 || h.TotalCount() != res.Ledger[0] {
		t.Errorf("longest %d µs, %d latencies of %v operations (%v)", h.Max(), h.TotalCount(), res.Ledger, err)
	}
}

// A run that waits for an arrival in an hour ends at once when it is stopped, or when another worker has failed.
func TestOpenLoopEndsAtOnce(t *testing.T) {
	idle := Load{Sessions: []filewise.Session{&counting{}, &counting{}}, Chunk: 1, Window: 24 * time.Hour, Rate: 1e-4}
	within10s(t, func() {
		ctx, cancel := context.WithTimeout(t.Context(), 20*ms)
		defer cancel()
		if _, err := Run(ctx, idle); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
	})
	failing := doFunc(func(context.Context, int64, int64) (int64, error) { return 0, errDisk })
	within10s(t, func() {
		l := idle
		l.Sessions, l.Arrivals = []filewise.Session{failing, failing}, Uniform // the first one is due at once
		if _, err := Run(t.Context(), l); !errors.Is(err, errDisk) {
			t.Errorf("error %v", err)
		}
	})
}

// The loop does not allocate: between the 500th operation and the 5,500th.
func TestOpenLoopDoesNotAllocate(t *testing.T) {
	var at [2]runtime.MemStats
	session := doFunc(func(_ context.Context, first, n int64) (int64, error) {
		switch first {
		case 500:
			runtime.ReadMemStats(&at[0])
		case 5500:
			runtime.ReadMemStats(&at[1])
		}
		return n, nil
	})
	_, err := Run(t.Context(), Load{Sessions: []filewise.Session{session}, Chunk: 1, Window: 500 * ms, Rate: 20_000, SliceLength: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if n := at[1].Mallocs - at[0].Mallocs; at[1].Mallocs == 0 || n > 100 { // the runtime has a few itself
		t.Errorf("%d allocations in 5,000 operations", n)
	}
}

func TestOpenLoopRefusals(t *testing.T) {
	s := []filewise.Session{&counting{}}
	for _, l := range []Load{
		{Sessions: s, Rate: -1, Window: 1}, {Sessions: s, Rate: math.NaN(), Window: 1}, {Sessions: s, Rate: math.Inf(1), Window: 1},
		{Sessions: s, Rate: 1, Ops: []int64{1}}, {Sessions: s, Rate: 1, Window: 1, Arrivals: "bursts"},
	} {
		if _, err := Run(t.Context(), l); filewise.CodeOf(err) != filewise.CodeInternal {
			t.Errorf("%+v: %v", l, err)
		}
	}
}
