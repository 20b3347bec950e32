package drive

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filewise"
)

func TestWindowAccounting(t *testing.T) {
	tests := []struct {
		name         string
		each         time.Duration
		chunk        int64
		warm, window time.Duration
		total        int64
		work         float64
		tail         time.Duration
		slices       []int64 // of 20 ms
		calls        int64   // in the histogram
		edges        [2]time.Duration
	}{
		{"single operations", ms, 1, 10 * ms, 100 * ms, 110, 100, 0,
			[]int64{20, 20, 20, 20, 20, 10}, 100, [2]time.Duration{10 * ms, 110 * ms}},
		{"no warm-up", ms, 1, 0, 40 * ms, 40, 40, 0, []int64{20, 20}, 40, [2]time.Duration{0, 40 * ms}},
		{"chunks over both edges", ms, 7, 10 * ms, 100 * ms, 112, 100, 2 * ms,
			[]int64{20, 20, 20, 20, 20, 12}, 15, [2]time.Duration{14 * ms, 112 * ms}},
		{"a call longer than the window", ms, 200, 10 * ms, 50 * ms, 200, 50, 140 * ms,
			[]int64{20, 20, 20, 20, 20, 20, 20, 20, 20, 20}, 1, [2]time.Duration{200 * ms, 200 * ms}},
		{"a stall longer than the window", 90 * ms, 1, 10 * ms, 50 * ms, 1, 50.0 / 90, 30 * ms,
			[]int64{0, 0, 0, 0, 1}, 1, [2]time.Duration{90 * ms, 90 * ms}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			clock := newVirtual()
			var edges []Edge
			res, err := Run(t.Context(), Load{Sessions: []filewise.Session{clock.each(tt.each)}, Clock: clock, Chunk: tt.chunk,
				WarmUp: tt.warm, Window: tt.window, SliceLength: 20 * ms,
				Edge: func(_ context.Context, e Edge) { edges = append(edges, e) }})
			if err != nil {
				t.Fatal(err)
			}
			m := res.Measure
			if res.Ledger.Total() != tt.total || m.Work != tt.work || m.Tail != tt.tail {
				t.Errorf("total %d, work %v, tail %v; want %d, %v, %v", res.Ledger.Total(), m.Work, m.Tail, tt.total, tt.work, tt.tail)
			}
			if d := cmp.Diff(tt.slices, m.Slices); d != "" {
				t.Errorf("slices (−want +got):\n%s", d)
			}
			if want := [2]time.Duration{tt.warm, tt.warm + tt.window}; m.Window != want {
				t.Errorf("window %v, want %v", m.Window, want)
			}
			if got := [2]time.Duration{*res.Edges[0], *res.Edges[1]}; got != tt.edges {
				t.Errorf("edges at %v, want %v", got, tt.edges)
			}
			if d := cmp.Diff([]Edge{WindowStart, WindowEnd}, edges); d != "" {
				t.Errorf("edges called (−want +got):\n%s", d)
			}
			h, err := DecodeHist(m.Hist)
			if err != nil || h.TotalCount() != tt.calls {
				t.Errorf("%d calls in the histogram, want %d (%v)", h.TotalCount(), tt.calls, err)
			}
		})
	}
}

// Reading probes at the start edge takes time of its worker, and no latency includes that time.
func TestEdgeTimeIsNoLatency(t *testing.T) {
	clock := newVirtual()
	res, err := Run(t.Context(), Load{Sessions: []filewise.Session{clock.each(ms)}, Clock: clock, Chunk: 1,
		WarmUp: 10 * ms, Window: 100 * ms,
		Edge: func(_ context.Context, e Edge) {
			if e == WindowStart {
				clock.advance(30 * ms)
			}
		}})
	if err != nil {
		t.Fatal(err)
	}
	h, err := DecodeHist(res.Measure.Hist)
	if err != nil {
		t.Fatal(err)
	}
	if h.Max() > 1001 || res.Measure.Work != 70 {
		t.Errorf("longest call %d µs, work %v; want 1000 µs, 70", h.Max(), res.Measure.Work)
	}
}

func TestFixedWork(t *testing.T) {
	clock := newVirtual()
	var edges []Edge
	res, err := Run(t.Context(), Load{Sessions: []filewise.Session{clock.each(ms)}, Clock: clock, Chunk: 30,
		Ops: []int64{100}, SliceLength: 40 * ms, Edge: func(_ context.Context, e Edge) { edges = append(edges, e) }})
	if err != nil {
		t.Fatal(err)
	}
	m := res.Measure
	if m.Work != 100 || m.Window != [2]time.Duration{0, 100 * ms} || m.Tail != 0 {
		t.Errorf("work %v, window %v, tail %v", m.Work, m.Window, m.Tail)
	}
	if d := cmp.Diff([]int64{40, 40, 20}, m.Slices); d != "" {
		t.Errorf("slices (−want +got):\n%s", d)
	}
	if len(edges) != 2 || *res.Edges[0] != 0 || *res.Edges[1] != 100*ms {
		t.Errorf("edges %v at %v, %v", edges, *res.Edges[0], *res.Edges[1])
	}
}

// The tail of fixed work is the time in which the slowest worker was alone or
// nearly so; a worker without work is not the first to finish.
func TestFixedWorkTail(t *testing.T) {
	clock := newVirtual()
	turn := make(chan struct{})
	short := doFunc(func(_ context.Context, _, n int64) (int64, error) {
		clock.advance(10 * ms)
		return n, nil
	})
	long := doFunc(func(_ context.Context, _, n int64) (int64, error) {
		<-turn // the short one has ended
		clock.advance(25 * ms)
		return n, nil
	})
	live := &Live{}
	go func() {
		for live.Operations() == 0 {
			time.Sleep(time.Millisecond)
		}
		close(turn)
	}()
	res, err := Run(t.Context(), Load{Sessions: []filewise.Session{short, long, short}, Clock: clock, Chunk: 5,
		Ops: []int64{5, 5, 0}, Live: live})
	if err != nil {
		t.Fatal(err)
	}
	if res.Measure.Tail != 25*ms || res.Measure.Window[1] != 35*ms || res.Ends[0] != 10*ms {
		t.Errorf("tail %v, window end %v, first end %v; want 25ms, 35ms, 10ms", res.Measure.Tail, res.Measure.Window[1], res.Ends[0])
	}
}

func TestNoWork(t *testing.T) {
	res, err := Run(t.Context(), Load{Sessions: []filewise.Session{&counting{}}, Ops: []int64{0}})
	if err != nil || res.Ledger.Total() != 0 || res.Measure.Hist != nil || res.Measure.Throughput() != 0 {
		t.Errorf("%v, %v", res, err)
	}
}
