package drive

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"filewise"
)

// Many workers in real time: every operation is in the ledger and in a slice
// once, in order and without gaps, and each edge is crossed once, in order.
func TestManyWorkers(t *testing.T) {
	for _, chunk := range []int64{1, 7, 0} {
		var mu sync.Mutex
		var edges []Edge
		all := sessions(8, func(int) filewise.Session { return &counting{} })
		res, err := Run(t.Context(), Load{Sessions: all, Chunk: chunk, WarmUp: 20 * ms, Window: 60 * ms, SliceLength: 10 * ms,
			Edge: func(_ context.Context, e Edge) { mu.Lock(); edges = append(edges, e); mu.Unlock() }})
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range all {
			c := s.(*counting)
			if c.gaps > 0 || c.next != res.Ledger[i] {
				t.Errorf("chunk %d, worker %d: %d gaps, %d operations, ledger %d", chunk, i, c.gaps, c.next, res.Ledger[i])
			}
		}
		if sum(res.Measure.Slices) != res.Ledger.Total() {
			t.Errorf("chunk %d: slices hold %d operations, ledger %d", chunk, sum(res.Measure.Slices), res.Ledger.Total())
		}
		if len(edges) != 2 || edges[0] != WindowStart || edges[1] != WindowEnd {
			t.Errorf("chunk %d: edges %v", chunk, edges)
		}
		if *res.Edges[0] < 20*ms || *res.Edges[1] < 80*ms {
			t.Errorf("chunk %d: edges at %v and %v", chunk, *res.Edges[0], *res.Edges[1])
		}
	}
}

// While one worker reads probes, the others go on.
func TestEdgeDoesNotStopOthers(t *testing.T) {
	var working atomic.Int64
	all := sessions(2, func(int) filewise.Session {
		return doFunc(func(_ context.Context, _, n int64) (int64, error) {
			working.Add(n)
			return n, nil
		})
	})
	within10s(t, func() {
		_, err := Run(t.Context(), Load{Sessions: all, Chunk: 1, WarmUp: 5 * ms, Window: 500 * ms,
			Edge: func(_ context.Context, e Edge) {
				if e == WindowEnd {
					return
				}
				for before := working.Load(); working.Load() == before; {
					time.Sleep(100 * time.Microsecond)
				}
			}})
		if err != nil {
			t.Error(err)
		}
	})
}

// Probes that take longer than the window are still read in order, one reading
// after the other.
func TestEdgesDoNotOverlap(t *testing.T) {
	var reading atomic.Int64
	all := sessions(2, func(int) filewise.Session { return &counting{} })
	res, err := Run(t.Context(), Load{Sessions: all, Chunk: 1, WarmUp: 2 * ms, Window: 2 * ms,
		Edge: func(_ context.Context, e Edge) {
			if reading.Add(1) != 1 {
				t.Errorf("%v is read while the other edge is", e)
			}
			if e == WindowStart {
				time.Sleep(20 * ms)
			}
			reading.Add(-1)
		}})
	if err != nil {
		t.Fatal(err)
	}
	if *res.Edges[1] < 20*ms {
		t.Errorf("the end edge was read at %v, by its own account", *res.Edges[1])
	}
}

// All workers wait for the last to be ready, and none starts before the probes
// of a window without warm-up are read.
func TestStartEdgeComesFirst(t *testing.T) {
	var read atomic.Bool
	var early atomic.Int64
	all := sessions(4, func(int) filewise.Session {
		return doFunc(func(_ context.Context, _, n int64) (int64, error) {
			if !read.Load() {
				early.Add(1)
			}
			return n, nil
		})
	})
	_, err := Run(t.Context(), Load{Sessions: all, Chunk: 1, Ops: []int64{50, 50, 50, 50},
		Edge: func(_ context.Context, e Edge) {
			if e == WindowStart {
				time.Sleep(5 * ms)
				read.Store(true)
			}
		}})
	if err != nil || early.Load() > 0 {
		t.Errorf("%d calls before the start edge was read (%v)", early.Load(), err)
	}
}

func TestBadLoads(t *testing.T) {
	one := []filewise.Session{&counting{}}
	for name, l := range map[string]Load{
		"no sessions":     {Window: time.Second},
		"nothing to do":   {Sessions: one},
		"both":            {Sessions: one, Window: time.Second, Ops: []int64{1}},
		"ops of others":   {Sessions: one, Ops: []int64{1, 2}},
		"negative ops":    {Sessions: one, Ops: []int64{-1}},
		"negative window": {Sessions: one, Window: -1},
		"fixed, warm-up":  {Sessions: one, Ops: []int64{1}, WarmUp: 1},
		"nil session":     {Sessions: []filewise.Session{nil}, Window: time.Second},
	} {
		if _, err := Run(t.Context(), l); filewise.CodeOf(err) != filewise.CodeInternal || err == nil {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// The loop allocates nothing, whatever the kind of load.
func TestNoAllocationPerOperation(t *testing.T) {
	for name, l := range map[string]Load{
		"fixed work":  {Chunk: 1, Ops: []int64{0}},
		"chunks":      {Chunk: 10, Ops: []int64{0}},
		"adaptive":    {Ops: []int64{0}},
		"time window": {Chunk: 1, Window: time.Hour, WarmUp: time.Hour, Edge: func(context.Context, Edge) {}},
	} {
		s := &counting{}
		l.Sessions = []filewise.Session{s}
		r := newRun(context.Background(), l.withDefaults())
		r.start = time.Now()
		w := r.workers[0]
		w.edgeAt = r.to
		w.ops = 0
		if allocs := testing.AllocsPerRun(5, func() { w.ops += 10_000; w.loop() }); allocs > 0 {
			t.Errorf("%s: %v allocations in 10,000 operations", name, allocs)
		}
		if s.next != 60_000 { // AllocsPerRun warms up once
			t.Errorf("%s: %d operations", name, s.next)
		}
	}
}

func BenchmarkLoop(b *testing.B) {
	b.ReportAllocs()
	_, err := Run(b.Context(), Load{Sessions: []filewise.Session{&counting{}}, Chunk: 1, Ops: []int64{int64(b.N)}})
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkTrial measures a run's cost apart from its operations: workers, slices, histograms.
func BenchmarkTrial(b *testing.B) {
	b.ReportAllocs()
	all := sessions(16, func(int) filewise.Session {
		return doFunc(func(_ context.Context, _, n int64) (int64, error) { return n, nil })
	})
	ops := make([]int64, len(all))
	for i := range ops {
		ops[i] = 10
	}
	for b.Loop() {
		if _, err := Run(b.Context(), Load{Sessions: all, Chunk: 1, Ops: ops}); err != nil {
			b.Fatal(err)
		}
	}
}
