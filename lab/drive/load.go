package drive

import (
	"context"
	"math"
	"time"

	"filewise"
)

// DefaultSliceLength is the length of slices when a Load names none.
const DefaultSliceLength = 100 * time.Millisecond

// Load describes the load to run. Either Window or Ops is set.
type Load struct {
	Sessions []filewise.Session // one worker for each; the caller closes them
	Clock    filewise.Clock     // nil means the machine's

	// Time window: workers run until the first call that ends at or after
	// WarmUp+Window.
	WarmUp, Window time.Duration
	// Fixed work (Window == 0): operations of each worker, no warm-up.
	Ops []int64

	// Rate makes it an open loop: so many operations a second are to start over all workers, in calls of Chunk (0:
	// Multiple), at times that are intended beforehand. In a time window any free worker takes the next; each
	// worker's share of fixed work arrives for it alone. Measure.Hist then counts from the intended start, whether a
	// worker was free or not. 0 means closed loop.
	Rate     float64
	Arrivals Arrivals // empty means Poisson

	// Until ends the window when it is closed, if that is before its own end: every worker finishes its call.
	// Arrivals that no worker has taken by then count with their wait so far. Nil means nothing ends it early.
	Until <-chan struct{}

	SliceLength time.Duration // 0 means DefaultSliceLength
	// Chunk is the number of operations per call. 0 means adapted so that a call takes 50–200 ms, for engines whose
	// loop runs on the server.
	Chunk int64
	// Multiple divides every adapted chunk: it is the number of operations in a transaction. 0 means 1.
	Multiple int64

	// Retry are the classes of failures after which a worker goes on, from its first
	// operation that is not committed, after a short random pause from Seed. The
	// latency of what succeeds then counts from the first try. Every failure is in
	// Measure.Errors, also those before and after the window.
	Retry []filewise.Class
	Seed  uint64

	// Types are the names of the operations' types, and TypeOf the type of an operation; calls are of one operation
	// each then (Chunk 1). None means one type.
	Types  []string
	TypeOf func(worker int, i int64) int

	// Pause returns the time for which a worker of a closed loop rests before operation i; the rest is no part of any
	// latency. Calls are of one operation each. Nil means it never rests.
	Pause func(worker int, i int64) time.Duration

	// Edge is called once at each edge of the window, for probes to be read. The first worker that finishes a call at
	// or after an edge calls it, between two of its own calls, while the others go on; so the reading is late by at
	// most that call, and Result.Edges holds by how much. Fixed work and a window without warm-up have their start
	// edge before the first call, fixed work has its end edge after the last. A run that ends early has no end edge.
	Edge func(context.Context, Edge)

	// NoLatencies leaves the histograms out of the result: for simulations of many
	// thousand runs, whose time goes into encoding them.
	NoLatencies bool

	Live *Live // may be read while Run works. Nil means none

	// Stopped reports that a process of the server is stopped (state T). It is called while no call ends. Nil if that
	// cannot be seen.
	Stopped func() bool

	// AllCounts reports that what comes before the window and after it counts, too, as does a standstill then.
	AllCounts bool

	// First is the number of the first session's worker, if other processes have the ones before it. Start is the
	// moment at which all of them begin, from which times count. Zero means at once. A start that leaves less than
	// half of the window is none, and ErrLate.
	First int
	Start time.Time
}

// Edge is one of the two edges of the measured window.
type Edge int

// The edges, in order.
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

// Result holds a run's results. They are valid also when Run returns an error.
type Result struct {
	Ledger filewise.Ledger // committed operations of each worker
	// Measure has Window, Work, Tail, SliceLength, Slices, Hist, Errors and Types; the caller adds Family, Unit and
	// Bytes, and measures Sync. Hist holds every call that overlaps the window, so that a stall across an edge is not
	// lost.
	Measure filewise.Measure
	// Started is the common start of the workers, from which durations count; they began Late after it.
	Started time.Time
	Late    time.Duration
	// Edges are the times at which Edge was called; absent (nil) when it was not.
	Edges [2]*time.Duration
	// Service is the histogram of an open loop's calls from their real start; nil
	// for a closed loop. Unserved are the calls intended within the window that no
	// worker came to before its end: Measure.Hist has them with what they had waited.
	Service  []byte
	Unserved int64
	// Ends are the times of each worker's last commit. 0 means none.
	Ends []time.Duration
	// Still holds the standstills within the window; zero in a virtual clock.
	Still Still
	// Failures are the errors of all workers, the first one first.
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
		return bad("calls of %d operations, though each has a type or a pause of its own", l.Chunk)
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
