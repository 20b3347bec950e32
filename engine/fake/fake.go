// Package fake is a deterministic engine with planted truths, for tests of
// everything above an engine. It runs in virtual time, keeps true accounts of
// what was committed, and fails if it is instructed to. It is deterministic for
// one connection. With several connections, the scheduler chooses their order, and the
// accounts stay true.
package fake

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"filewise"
)

// Name is the engine's name.
const Name = "fake"

// Fault makes a stage of trials fail, or corrupts their data.
type Fault struct {
	Build  int    // of the which-th build, from 1. 0 means of every one
	Layout string // of this layout only. Empty means of any
	Stage  string // one of filewise's stages; StageObserve: the layout is not what was requested
	After  int64  // StageMeasure: operations of the build until the failure
	Times  int    // how often. 0 means always
	Err    error  // the cause. Nil means ErrPlanted. StageCheck with nil: rows are lost, and the check finds it
}

// ErrPlanted is the cause of a planted failure that names no other.
var ErrPlanted = errors.New("planted failure")

// Config holds the planted truths.
type Config struct {
	// Throughput is the true throughput of a layout, in operations per second
	// over all connections. Nil means 1000 for all.
	Throughput func(filewise.Layout) float64
	// Noise is the standard deviation of a trial's log throughput (0.05: 5 %).
	Noise float64
	// Drift is the relative change of throughput for each build since the first.
	Drift float64
	// Settling is the time since the first connection during which the throughput
	// is half of what it will be.
	Settling time.Duration
	// Peculiar is the standard deviation of a lasting effect of each build, on the log scale. All trials on one build
	// share the effect.
	Peculiar float64
	// Disturb returns the machine's effect on a trial, on the log scale: drift, steps, slow runs. It is called once per
	// build and per reset, in their order. If nil, there is no effect.
	Disturb func(filewise.Layout) float64
	// Turn returns the machine's effect on a turn, on the log scale. A turn is the work of a build from one settling to the
	// next. The effect is noise, and what the layout of the turn before has left behind (zero value at the first turn).
	// Turn is called at the turn's first operations. If nil, there is no effect.
	Turn func(l, before filewise.Layout) float64
	// Freeze returns how long a layout stalls before operations that begin now. If nil, it never stalls.
	Freeze func(l filewise.Layout, now time.Time) time.Duration
	// Life returns how long an operation of the life cycle takes (checkpoint, shutdown,
	// open, recovery). Nil means 100 ms for all.
	Life func(l filewise.Layout, operation string) time.Duration
	// NoReset makes builds that cannot be reset, as on a server that Filewise does
	// not run itself.
	NoReset bool
	// Copies lets builds of a loaded layout be copies of a stored one.
	Copies bool
	// Stages holds the virtual time that each stage takes.
	Stages map[string]time.Duration
	// Drain returns how long a background writer still writes when the database is brought to rest. It is given the number
	// of operations since the database last was at rest. The time is added to the duration in Stages. If nil, it is 0.
	Drain func(l filewise.Layout, operations int64) time.Duration
	// CheckpointEvery is the number of operations after which the server writes what is pending, while its clients wait. If 0,
	// it writes only when the database is brought to rest.
	CheckpointEvery int64
	// LogWait returns how long each operation waits for the log. If nil, waits are not counted.
	LogWait func(filewise.Program) time.Duration
	// Others is the share of the server's changes that other clients make.
	Others float64
	// Unsettled is the error for a server that still has something to write after it was brought to rest. If nil, the
	// server has written everything.
	Unsettled error
	Faults    []Fault
	Seed      uint64
	// Clock is advanced by the engine. Nil means a new one.
	Clock *Clock
}

// Engine is the fake engine. It is safe for concurrent use.
type Engine struct {
	config Config
	clock  *Clock

	mu     sync.Mutex
	calls  []Call
	builds int
	fired  []int
	made   map[string]bool // layouts that were built before
	open   int             // builds that are not dropped
	shared map[string]*database
	kept   map[string][]rows // what builds were loaded with, by layout
	before filewise.Layout   // that had the last turn
}

// Call is one call of the life cycle. Calls are recorded in order.
type Call struct {
	Stage  string // a stage; "open", "close", "connect", "disconnect" in addition
	Layout string
}

// New returns an engine with planted truths.
func New(c Config) *Engine {
	if c.Clock == nil {
		c.Clock = NewClock()
	}
	return &Engine{config: c, clock: c.Clock, fired: make([]int, len(c.Faults))}
}

// Name returns the engine's name.
func (*Engine) Name() string { return Name }

// Describe describes one kind of layout, which needs no name.
func (*Engine) Describe() filewise.Description {
	return filewise.Description{Kinds: []filewise.Kind{""}}
}

// Clock returns the engine's virtual time.
func (e *Engine) Clock() *Clock { return e.clock }

// Calls returns the calls so far.
func (e *Engine) Calls() []Call {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]Call(nil), e.calls...)
}

// Builds returns the number of builds so far, failed ones included.
func (e *Engine) Builds() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.builds
}

// Undropped returns the number of builds that are not dropped.
func (e *Engine) Undropped() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.open
}

// Open opens the target. Only the volumes' names matter.
func (e *Engine) Open(ctx context.Context, t filewise.Target) (filewise.Server, error) {
	if err := e.call(ctx, "open", ""); err != nil {
		return nil, err
	}
	return &server{e, t}, nil
}

// call records a call and advances the clock by its time.
func (e *Engine) call(ctx context.Context, stage, layout string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	e.mu.Lock()
	e.calls = append(e.calls, Call{stage, layout})
	e.mu.Unlock()
	e.clock.Advance(e.config.Stages[stage])
	return nil
}

// create returns the time that only a layout's first build takes.
func (e *Engine) create(layout string) time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.made[layout] {
		return 0
	}
	if e.made == nil {
		e.made = map[string]bool{}
	}
	e.made[layout] = true
	took := e.config.Stages[filewise.StageCreate]
	e.clock.Advance(took)
	return took
}

// fault returns the planted fault of a stage, if one is due, and counts it.
func (e *Engine) fault(stage, layout string, build int) *Fault {
	return e.faultAfter(stage, layout, build, math.MaxInt64)
}

func (e *Engine) faultAfter(stage, layout string, build int, done int64) *Fault {
	if len(e.config.Faults) == 0 {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := range e.config.Faults {
		f := &e.config.Faults[i]
		if f.Stage != stage || f.Layout != "" && f.Layout != layout || f.Build != 0 && f.Build != build ||
			f.Times > 0 && e.fired[i] >= f.Times || done < f.After {
			continue
		}
		e.fired[i]++
		return f
	}
	return nil
}

func (f *Fault) err(stage, layout string) error {
	cause := f.Err
	if cause == nil {
		cause = ErrPlanted
	}
	return fmt.Errorf("%s of %s: %w", stage, layout, cause)
}

// truth returns the throughput of a build: its layout's, with drift and with the effect of this build. It also
// returns the noise of the build's first trial. Both depend only on the seed and the build's number.
func (e *Engine) truth(l filewise.Layout, build int) (own, first float64) {
	own = 1000.0
	if e.config.Throughput != nil {
		own = e.config.Throughput(l)
	}
	r := rand.New(rand.NewPCG(e.config.Seed, uint64(build)))
	noise := math.Exp(e.config.Noise * r.NormFloat64())
	own *= math.Pow(1+e.config.Drift, float64(build-1)) * math.Exp(e.config.Peculiar*r.NormFloat64())
	return own, own * noise * e.disturbed(l)
}

// begin draws the disturbance of a new turn.
func (d *database) begin() {
	turn := d.e.config.Turn
	if turn == nil {
		return
	}
	d.e.mu.Lock()
	defer d.e.mu.Unlock()
	if !d.inTurn {
		d.inTurn, d.turn = true, math.Exp(turn(d.l, d.e.before))
		d.e.before = d.l
	}
}

// disturbed returns the factor by which the machine changes the next trial.
func (e *Engine) disturbed(l filewise.Layout) float64 {
	if e.config.Disturb == nil {
		return 1
	}
	return math.Exp(e.config.Disturb(l))
}
