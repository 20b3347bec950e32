package drivers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"filewise"
	"filewise/lab/drive"
	"filewise/lab/experiment"
)

// Ask sends an order to the driver on a host. An error means that the order did not reach the driver, or the driver has
// died.
type Ask func(ctx context.Context, host string, o Order) (Answer, error)

// Crew holds the drivers of a run. It implements experiment.Drivers.
type Crew struct {
	Hosts   []string
	Ask     Ask
	Server  filewise.Sharer // opened by the run
	Clock   filewise.Clock
	Version string
	Run     string // a name that no other run has

	plan  experiment.Plan // the plan with which they were greeted
	gone  bool            // a request did not reach a driver, or a driver has died
	loads int
	lead  time.Duration // time from arming to the start
}

// Patience limits the wait for a driver, or a campaign's host, that is gone. The request is repeated every
// askAgain.
const Patience, askAgain = time.Hour, 2 * time.Second

// leastLead and mostLead limit the lead, the time in which all drivers must receive the start's instant. It moves
// towards twice the time that sending takes. leaveWithin limits Leave.
const leastLead, mostLead, leaveWithin = 250 * time.Millisecond, 10 * time.Second, 3 * time.Second

// Greet returns an error if drivers are missing, or cannot work on the plan's target. It is called before everything
// else.
func (c *Crew) Greet(ctx context.Context, p experiment.Plan) error {
	c.plan = slim(p)
	err := c.greet(ctx)
	if lost := new(unasked); errors.As(err, lost) {
		return filewise.Errorf(filewise.CodePreflight, cmp.Or(filewise.RemedyOf(err), "give --drivers as the workers have their names, or start "+
			"it there: filewise worker --temporal HOST:PORT --host NAME"), "%w", err)
	}
	return err
}

func (c *Crew) greet(ctx context.Context) error {
	began := c.Clock.Now()
	_, err := c.all(ctx, func(int) Order { return Order{Greet: &Greeting{Plan: c.plan, Version: c.Version}} })
	c.lead = min(max(leastLead, c.Clock.Now().Sub(began)), mostLead)
	return err
}

// Await implements experiment.Drivers. It waits for a driver that is gone.
func (c *Crew) Await(ctx context.Context, waits func(why string)) error {
	for until := c.Clock.Now().Add(Patience); c.gone; {
		err := c.greet(ctx)
		if !errors.As(err, new(unasked)) {
			c.gone = false
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if c.Clock.Now().After(until) {
			return filewise.Errorf(filewise.CodeStopped, "start its worker; then continue: filewise resume",
				"a driver has not come back for %v: %w", Patience, err)
		}
		waits("a driver is gone, and is waited for: " + err.Error())
		if err := c.Clock.Sleep(ctx, askAgain); err != nil {
			return err
		}
	}
	return nil
}

// unasked is the error of a driver that has died, or that a request did not reach.
type unasked struct{ error }

// Is reports true for ErrVoid, so that the error voids a trial.
func (unasked) Is(err error) bool { return err == experiment.ErrVoid }

func (u unasked) Unwrap() error { return u.error }

// slim returns the plan without what drivers do not use.
func slim(p experiment.Plan) experiment.Plan {
	p.Command, p.Notify, p.Tags = nil, nil, nil
	return p
}

// Leave makes all drivers release what they hold, if requests reach them at once. It does not wait for drivers that
// have died.
func (c *Crew) Leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, leaveWithin)
	defer cancel()
	_, _ = c.all(ctx, func(int) Order { return Order{} }) // otherwise they do so after a while
}

// all sends an order to every driver at the same time. If one fails, the others are stopped.
func (c *Crew) all(ctx context.Context, order func(i int) Order) ([]Answer, error) {
	answers := make([]Answer, len(c.Hosts))
	eg, ctx := errgroup.WithContext(ctx)
	for i, host := range c.Hosts {
		eg.Go(func() (err error) {
			if answers[i], err = c.Ask(ctx, host, order(i)); err != nil {
				return unasked{fmt.Errorf("driver %s: %w", host, err)}
			}
			if f := answers[i].Failure; f != nil {
				return f.error(host)
			}
			return nil
		})
	}
	return answers, eg.Wait()
}

// Drive implements experiment.Drivers.
func (c *Crew) Drive(ctx context.Context, s experiment.Share) (drive.Result, error) {
	c.loads++
	id := fmt.Sprintf("%s/%d", c.Run, c.loads)
	if _, err := c.all(ctx, func(i int) Order { return Order{Arm: c.task(id, s, i)} }); err != nil {
		return drive.Result{}, c.ended(ctx, err)
	}
	if s.WarmUp == 0 && s.Edge != nil {
		s.Edge(ctx, drive.WindowStart) // so that reading probes is not in the window
	}
	own, err := read(ctx, c.Server, c.Clock)
	if err != nil {
		return drive.Result{}, err
	}
	at := c.Clock.Now().Add(c.lead)
	edges, over := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { c.edges(edges, s, at) })
	answers, err := c.all(ctx, func(int) Order { return Order{Start: &Start{ID: id, At: at.Add(own.Ahead)}} })
	over()
	wg.Wait()
	if err != nil {
		return drive.Result{}, c.ended(ctx, err)
	}
	if s.Window == 0 && s.Edge != nil {
		s.Edge(ctx, drive.WindowEnd)
	}
	lead := max(leastLead, c.lead*3/4)
	for _, a := range answers {
		lead = max(lead, 2*(c.lead-a.Lead))
	}
	c.lead = min(lead, mostLead)
	return c.merged(answers, at, s.Window == 0)
}

// ended returns an error in the form for the run. If the run's context has ended, that goes first.
func (c *Crew) ended(ctx context.Context, err error) error {
	c.Leave(context.WithoutCancel(ctx))
	c.gone = errors.As(err, new(unasked))
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// task returns a driver's part of a load.
func (c *Crew) task(id string, s experiment.Share, i int) *Task {
	all := len(s.Sessions)
	first, next := i*all/len(c.Hosts), (i+1)*all/len(c.Hosts)
	t := &Task{ID: id, Plan: slim(s.Plan), Layout: s.Layout.Name, Build: s.Build, Phase: s.Phase, First: first, Connections: next - first,
		Discard: s.Discard, Chunk: s.Chunk, WarmUp: s.WarmUp, Window: s.Window, AllCounts: s.AllCounts}
	if s.Window == 0 {
		t.Ops = s.Ops[first:next]
	}
	if len(s.Done) == all {
		t.Done = s.Done[first:next]
	}
	return t
}

// edges reads the probes at the edges of the window, if the load gets that far.
func (c *Crew) edges(ctx context.Context, s experiment.Share, at time.Time) {
	if s.Edge == nil || s.Window == 0 {
		return
	}
	for e, after := range [2]time.Duration{s.WarmUp, s.WarmUp + s.Window} {
		if after == 0 {
			continue
		}
		if c.Clock.Sleep(ctx, at.Add(after).Sub(c.Clock.Now())) != nil {
			return
		}
		s.Edge(ctx, drive.Edge(e))
	}
}

// merged returns the drivers' results as one, with the drivers' clocks and starts as deltas.
func (c *Crew) merged(answers []Answer, at time.Time, fixed bool) (drive.Result, error) {
	var parts []drive.Result
	var deltas []filewise.Delta
	first := slices.MinFunc(answers, func(a, b Answer) int { return cmp.Compare(a.Late, b.Late) }).Late
	for i, a := range answers {
		parts = append(parts, a.Result)
		for name, d := range map[string]time.Duration{"clock behind the server's": a.Clock.Ahead, "clock known within": a.Clock.Within,
			"start after the instant": a.Late, "start after the first": a.Late - first} {
			deltas = append(deltas, filewise.Delta{Probe: filewise.ProbeDriver + c.Hosts[i], Name: name, Unit: "s", Value: d.Seconds()})
		}
	}
	slices.SortFunc(deltas, func(a, b filewise.Delta) int {
		return cmp.Or(cmp.Compare(a.Probe, b.Probe), cmp.Compare(a.Name, b.Name))
	})
	out, err := drive.Merge(parts, fixed)
	if errors.Is(err, drive.ErrLate) {
		err = fmt.Errorf("%w: %w", experiment.ErrVoid, err)
	}
	out.Started, out.Measure.Deltas = at, deltas
	return out, err
}
