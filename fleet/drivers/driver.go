package drivers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"filewise"
	"filewise/lab/drive"
	"filewise/lab/experiment"
	"filewise/lab/workload"
)

// Driver makes this process one of several drivers. It works for one crew at a time.
type Driver struct {
	// Open opens a target with this host's own password.
	Open func(context.Context, filewise.Target) (filewise.Server, error)
	// Version is Filewise's version here.
	Version string
	// Hide removes secrets from what others get.
	Hide  func(string) string
	Clock filewise.Clock

	working sync.Mutex // held during a request
	cut     atomic.Pointer[context.CancelFunc]

	target string // the open target, as JSON. Empty means none is open
	server filewise.Server
	armed  *armed // nil means nothing is armed
	forget *time.Timer
	busy   atomic.Bool // a server is open
}

// Busy reports whether a crew can give the driver orders: from its greeting until the crew leaves, or the driver
// forgets the crew.
func (d *Driver) Busy() bool { return d.busy.Load() }

// armed holds connections that wait for their start.
type armed struct {
	task     Task
	load     drive.Load
	sessions []filewise.Session
	clock    Reading
	left     func() // releases what belongs to the build
}

func (a *armed) close() error {
	err := experiment.CloseAll(a.sessions)
	a.left()
	return err
}

// patience limits the time for which a driver keeps what no request needs any more.
const patience = time.Minute

// Do carries out an order. The answer holds failures too.
func (d *Driver) Do(ctx context.Context, o Order) Answer {
	a, err := d.do(ctx, o)
	if err != nil {
		a.Failure = failureOf(err, d.Hide)
	}
	a.Result.Failures = nil // they are reported
	return a
}

func (d *Driver) do(ctx context.Context, o Order) (Answer, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if before := d.cut.Swap(&cancel); before != nil && o.Start == nil {
		(*before)() // its crew has given it up
	}
	d.working.Lock()
	defer d.working.Unlock()
	if d.forget != nil {
		d.forget.Stop()
	}
	d.forget = time.AfterFunc(patience, func() { _ = d.Close() }) // what was wrong is gone with it
	switch {
	case o.Greet != nil:
		return d.greet(ctx, *o.Greet)
	case o.Arm != nil:
		return d.arm(ctx, *o.Arm)
	case o.Start != nil:
		d.forget.Stop() // until the order is carried out
		defer d.forget.Reset(patience)
		return d.start(ctx, *o.Start)
	}
	return Answer{}, d.close()
}

// Close releases everything that the driver holds.
func (d *Driver) Close() error {
	d.working.Lock()
	defer d.working.Unlock()
	return d.close()
}

func (d *Driver) close() error {
	errs := []error{d.disarm()}
	if d.server != nil {
		errs = append(errs, d.server.Close())
	}
	d.server, d.target = nil, ""
	d.busy.Store(false)
	return errors.Join(errs...)
}

func (d *Driver) disarm() error {
	if d.armed == nil {
		return nil
	}
	a := d.armed
	d.armed = nil
	return a.close()
}

// greet checks whether the driver can work on the greeting's target, and compares the clocks.
func (d *Driver) greet(ctx context.Context, g Greeting) (a Answer, err error) {
	if g.Version != d.Version {
		return a, filewise.Errorf(filewise.CodePreflight, "have all drivers run the same version", "it is Filewise %s, and the run's is %s",
			d.Version, g.Version)
	}
	a, err = d.clock(ctx, g.Plan)
	if err == nil && a.Clock.Within > drive.Together {
		err = filewise.Errorf(filewise.CodePreflight, "use hosts that are near to the server",
			"the way to the server and back takes %v: drivers cannot start within %v of each other by its clock", 2*a.Clock.Within, drive.Together)
	}
	return a, err
}

// clock opens the target, and compares the clocks.
func (d *Driver) clock(ctx context.Context, p experiment.Plan) (a Answer, err error) {
	s, err := d.open(ctx, p.Target)
	if err != nil {
		return a, err
	}
	a.Clock, err = read(ctx, s, d.Clock)
	return a, err
}

// open returns the opened target, in which others may have made the builds.
func (d *Driver) open(ctx context.Context, t filewise.Target) (filewise.Sharer, error) {
	text, err := json.Marshal(t)
	if err != nil {
		return nil, filewise.Errorf(filewise.CodeInternal, "", "target: %w", err)
	}
	if d.server == nil || d.target != string(text) {
		if err := d.close(); err != nil {
			return nil, err
		}
		if d.server, err = d.Open(ctx, t); err != nil {
			d.server = nil
			return nil, err
		}
		d.target = string(text)
		d.busy.Store(true)
	}
	return SharerOf(d.server, t)
}

// SharerOf returns the server as a Sharer, or an error if several processes cannot work on it together.
func SharerOf(s filewise.Server, t filewise.Target) (filewise.Sharer, error) {
	sharer, ok := s.(filewise.Sharer)
	if !ok {
		return nil, filewise.Errorf(filewise.CodePreflight, "leave --drivers out: \"run\" drives it itself",
			"drivers cannot share a server of %s: %w", t.Engine, filewise.ErrUnsupported)
	}
	return sharer, nil
}

// arm opens the connections of a task, which then wait.
func (d *Driver) arm(ctx context.Context, t Task) (a Answer, err error) {
	if err := d.disarm(); err != nil {
		return a, err
	}
	program, layout, err := programOf(t)
	if err != nil {
		return a, err
	}
	s, err := d.open(ctx, t.Plan.Target)
	if err != nil {
		return a, err
	}
	// Connections may keep their context for as long as they live.
	connector, left, err := s.Join(context.WithoutCancel(ctx), layout, program, t.Build)
	if err != nil {
		return a, err
	}
	made := &armed{task: t, left: left}
	phase := program.Phases[t.Phase]
	if made.load, err = t.Plan.Load(program, phase, t.Chunk); err != nil {
		return a, errors.Join(err, made.close())
	}
	made.sessions, err = experiment.Connect(context.WithoutCancel(ctx), from{connector, t.First}, t.Phase, t.Connections)
	if err == nil && t.Discard {
		err = experiment.Discard(ctx, phase, made.sessions)
	}
	if err == nil {
		a, err = d.clock(ctx, t.Plan)
	}
	if err != nil {
		return a, errors.Join(err, made.close())
	}
	l := &made.load
	l.Sessions, l.Clock, l.First = experiment.GoOn(made.sessions, t.Done), d.Clock, t.First
	l.WarmUp, l.Window, l.Ops, l.AllCounts = t.WarmUp, t.Window, t.Ops, t.AllCounts
	made.clock, made.task.Plan = a.Clock, experiment.Plan{}
	d.armed = made
	return a, nil
}

// programOf returns the plan's program, as the run's own process has it.
func programOf(t Task) (program filewise.Program, layout filewise.Layout, err error) {
	sc, err := workload.Lookup(t.Plan.Scenario)
	if err != nil {
		return program, layout, err
	}
	w, err := sc.New(t.Plan.Params, t.Plan.Seed)
	if err != nil {
		return program, layout, err
	}
	program = t.Plan.Program(w)
	for _, layout = range t.Plan.Layouts {
		if layout.Name == t.Layout && t.Phase < len(program.Phases) {
			return program, layout, nil
		}
	}
	return program, layout, fmt.Errorf("the plan has no layout %q with a phase %d", t.Layout, t.Phase)
}

// from connects the workers from a number on.
type from struct {
	filewise.Connector
	first int
}

// Connect implements filewise.Connector.
func (f from) Connect(ctx context.Context, phase, worker int) (filewise.Session, error) {
	return f.Connector.Connect(ctx, phase, f.first+worker)
}

// start runs what is armed, and closes its connections.
func (d *Driver) start(ctx context.Context, s Start) (out Answer, err error) {
	a := d.armed
	if a == nil || a.task.ID != s.ID {
		return out, fmt.Errorf("%w: load %s is not armed here", drive.ErrLate, s.ID)
	}
	defer func() { err = errors.Join(err, d.disarm()) }()
	now := d.Clock.Now()
	a.load.Start = now.Add(s.At.Sub(now.Add(a.clock.Ahead)))
	out.Lead, out.Clock = a.load.Start.Sub(now), a.clock
	out.Result, err = drive.Run(ctx, a.load)
	out.Late = out.Result.Late
	return out, err
}
