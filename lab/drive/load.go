package drive

import (
	"context"
	"math"
	"time"

	"filewise"
)

// DefaultSliceLength is the length of slices if a Load sets none.
const DefaultSliceLength = 100 * time.Millisecond

// Load describes the load to run. Either Window or Ops is set.
type Load struct {
	Sessions []filewise.Session // one worker for each; the caller closes them
	Clock    filewise.Clock     // nil means the machine's clock

	// WarmUp and Window set a time window: workers run until the first call that ends at or after WarmUp+Window.
	WarmUp, Window time.Duration
	// Ops sets fixed work (Window == 0): the operations of each worker, without warm-up.
	Ops []int64

	// Rate makes the load an open loop: that many operations per second are intended to start over all workers. They start
	// in calls of Chunk (if 0, Multiple), at times that are fixed beforehand. In a time window any free worker takes the
	// next call; with fixed work each worker has its own arrivals. Measure.Hist then counts from the intended start,
	// whether a worker was free or not. If Rate is 0, the load is a closed loop.
	Rate     float64
	Arrivals Arrivals // empty means Poisson

	// Until ends the window early when it is closed; every worker finishes its call. Arrivals that no worker has taken by
	// then count with their wait so far. Nil means the window is never ended early.
	Until <-chan struct{}

	SliceLength time.Duration // 0 means DefaultSliceLength
	// Chunk is the number of operations per call. If 0, it is adapted so that a call takes 50–200 ms, for engines whose
	// loop runs on the server.
	Chunk int64
	// Multiple divides every adapted chunk. It is the number of operations in a transaction. 0 means 1.
	Multiple int64

	// Retry lists the classes of failures after which a worker continues. It continues at its first uncommitted operation,
	// after a short random pause from Seed. The latency of an operation that then succeeds counts from the first try.
	// Every failure is in Measure.Errors, even outside the window.
	Retry []filewise.Class
	Seed  uint64

	// Types lists the names of the operations' types, and TypeOf returns the type of an operation. Calls must then have
	// one operation each (Chunk 1). Nil means one type.
	Types  []string
	TypeOf func(worker int, i int64) int

	// Pause returns how long a worker of a closed loop pauses before operation i. Pauses are not part of any latency.
	// Calls must then have one operation each. Nil means no pauses.
	Pause func(worker int, i int64) time.Duration

	// Edge is called once at each edge of the window, to read probes. The first worker that finishes a call at or after an
	// edge calls it, between two of its own calls, while the others continue. So the reading is late by at most that call;
	// Result.Edges holds the time. Fixed work, and a window without warm-up, have their start edge before the first call.
	// Fixed work has its end edge after the last call. A run that ends early has no end edge.
	Edge func(context.Context, Edge)

	// NoLatencies omits the histograms from the result. It is for simulations of many thousand runs, which would spend
	// their time encoding them.
	NoLatencies bool

	Live *Live // may be read while Run works. Nil means none

	// Stopped reports whether a process of the server is stopped (state T). It is called while no call ends. It is nil if
	// that cannot be seen.
	Stopped func() bool

	// AllCounts means that work and standstills outside the window count too.
	AllCounts bool

	// First is the number of the first session's worker, if other processes run the workers before it. Start is the time
	// at which all begin, from which times count. If zero, they begin at once. If less than half of the window is left at
	// the start, the run fails with ErrLate.
	First int
	Start time.Time
}

// Edge is one of the two edges of the measured window.
type Edge int

// Values of Edge, in order.
const (
	WindowStart Edge = iota
	WindowEnd
)

func (e Edge) String() string {
	if e == WindowStart {
		return "window start"
	}
	return "window end"
}

// Result holds the results of a run. They are valid even if Run returns an error.
type Result struct {
	Ledger filewise.Ledger // committed operations of each worker
	// Measure has Window, Work, Tail, SliceLength, Slices, Hist, Errors and Types. The caller adds Operation, Unit and Bytes,
	// and measures Sync. Hist holds every call that overlaps the window, so that a stall across an edge is not lost.
	Measure filewise.Measure
	// Started is the common start of the workers, from which durations count. The workers began Late after it.
	Started time.Time
	Late    time.Duration
	// Edges holds the times at which Edge was called. An entry is nil if it was not called.
	Edges [2]*time.Duration
	// Service is the histogram of an open loop's calls from their real start. It is nil for a closed loop. Unserved is the
	// number of calls intended within the window that no worker took before its end. Measure.Hist counts these with the
	// time they had waited.
	Service  []byte
	Unserved int64
	// Ends holds the time of each worker's last commit. 0 means none.
	Ends []time.Duration
	// Still holds the standstills within the window. It is zero with a virtual clock.
	Still Still
	// Failures holds the errors of all workers, first error first.
	Failures []*WorkerError
}

func (l Load) check() error {
	bad := func(format string, args ...any) error {
		return filewise.Errorf(filewise.CodeInternal, "report this as a bug of Filewise", "load: "+format, args...)
	}
	switch {
	case len(l.Sessions) == 0:
		return bad("there are no sessions")
	case l.WarmUp < 0 || l.Window < 0 || l.SliceLength < 0 || l.Chunk < 0 || l.Multiple < 0:
		return bad("a length is negative: warm-up %v, window %v, slice %v, chunk %d, multiple %d",
			l.WarmUp, l.Window, l.SliceLength, l.Chunk, l.Multiple)
	case l.Window > 0 && l.Ops != nil:
		return bad("both a time window and fixed work are given")
	case l.Window == 0 && len(l.Ops) != len(l.Sessions):
		return bad("fixed work for %d workers, but there are %d sessions", len(l.Ops), len(l.Sessions))
	case l.Rate < 0 || math.IsNaN(l.Rate) || math.IsInf(l.Rate, 0):
		return bad("a rate of %v operations a second", l.Rate)
	case l.Arrivals != "" && l.Arrivals != Poisson && l.Arrivals != Uniform:
		return bad("arrivals %q", l.Arrivals)
	case (len(l.Types) > 0) != (l.TypeOf != nil):
		return bad("%d types of operations, and a function of types: %v", len(l.Types), l.TypeOf != nil)
	case (l.TypeOf != nil || l.Pause != nil) && l.Chunk != 1:
		return bad("calls of %d operations, though each has its own type or pause", l.Chunk)
	case l.Pause != nil && l.Rate > 0:
		return bad("pauses in an open loop")
	case l.Window == 0 && l.WarmUp > 0:
		return bad("fixed work has no warm-up")
	}
	for i, n := range l.Ops {
		if n < 0 {
			return bad("worker %d has %d operations", i, n)
		}
	}
	for i, s := range l.Sessions {
		if s == nil {
			return bad("worker %d has no session", i)
		}
	}
	return nil
}

func (l Load) withDefaults() Load {
	if l.Clock == nil {
		l.Clock = filewise.RealClock{}
	}
	if l.SliceLength == 0 {
		l.SliceLength = DefaultSliceLength
	}
	if l.Multiple == 0 {
		l.Multiple = 1
	}
	return l
}
