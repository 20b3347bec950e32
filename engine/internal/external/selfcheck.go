package external

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"filewise"
	"filewise/workload"
)

// SelfCheck takes small databases through all that a trial does, and drops them.
type SelfCheck struct {
	Server filewise.Server
	Report func(filewise.Finding)
	// Explain adds remedies to errors of the server and hides its secrets.
	Explain func(error) error
	// Trace, if any, reports each statement besides.
	Trace *Trace
	// Layouts are filled by single rows, each through a whole life. The workloads of
	// several phases are tried on Loaded.
	Layouts []filewise.Layout
	Loaded  filewise.Layout
	// Questions are the engine's, before anything is built; Besides those to a build.
	Questions []Step
	Besides   func(*filewise.Database) []Step
}

// Step is one step of a self-check.
type Step struct {
	Name string
	Do   func(context.Context) error
	// Optional: it needs a right that a measurement does not.
	Optional bool
	// fails: failures of its statements are what it wants.
	fails bool
}

// Run tries everything. What needs a step that has failed is left out.
func (c *SelfCheck) Run(ctx context.Context) {
	passed := c.all(ctx, "", slices.Concat(c.questions(), c.Questions))
	for _, l := range c.Layouts {
		key := workload.KeyRandom
		if l.AddedLater == filewise.LaterNewData { // which may be above the others only
			key = workload.KeySequential
		}
		w, err := workload.NewInserts(workload.Params{Connections: 2, RowBytes: 100, CommitEvery: 7, Table: workload.TableShared, Key: key}, 1)
		passed = passed && c.made(err) && c.live(ctx, l, w)
	}
	if !passed {
		c.Report(filewise.Finding{Check: "self-check", Status: filewise.StatusNote,
			Detail: "the steps after the one that failed were not tried", Remedy: "see the step that failed"})
		return
	}
	for _, make := range []func(workload.Params, uint64) (filewise.Workload, error){workload.NewOrders, workload.NewDML, workload.NewScan} {
		w, err := make(workload.Params{Connections: 2, Warehouses: 2, Scale: 0.001, Churn: true, Rows: 1000,
			Mode: workload.ModeBoth, Connect: workload.ConnectPooled, Index: workload.IndexKey,
			Cache: workload.CacheWarm, Data: workload.DataOrdered, Repeat: 1}, 1)
		if c.made(err) {
			c.live(ctx, c.Loaded, w)
		}
	}
}

func (c *SelfCheck) made(err error) bool {
	if err != nil {
		c.say(Step{Name: "workload"}, err, 0)
	}
	return err == nil
}

// all tries steps until one fails.
func (c *SelfCheck) all(ctx context.Context, of string, steps []Step) bool {
	for _, s := range steps {
		s.Name = of + s.Name
		if c.Trace != nil {
			c.Trace.wanted.Store(s.fails)
		}
		start := time.Now()
		err := s.Do(ctx)
		c.say(s, err, time.Since(start))
		if err != nil && !s.Optional {
			return false
		}
	}
	return true
}

func (c *SelfCheck) say(s Step, err error, took time.Duration) {
	f := filewise.Finding{Check: s.Name, Status: filewise.StatusOK, Detail: took.Round(time.Millisecond).String()}
	if err != nil {
		err = c.Explain(err)
		f.Status, f.Detail, f.Remedy = filewise.StatusFailed, err.Error(), remedy(err)
		if s.Optional {
			f.Status = filewise.StatusNote
		}
	}
	c.Report(f)
}

func remedy(err error) string {
	return cmp.Or(filewise.RemedyOf(err), "paste this report into an issue")
}

// questions are what is asked of any server; they change nothing.
func (c *SelfCheck) questions() []Step {
	steps := []Step{{Name: "facts", Do: func(ctx context.Context) error { _, err := c.Server.Facts(ctx); return err }}}
	if s, ok := c.Server.(filewise.Examiner); ok {
		steps = append(steps, Step{Name: "preflight", Do: func(ctx context.Context) error { s.Examine(ctx, filewise.Demand{}); return nil }})
	}
	if s, ok := c.Server.(filewise.Monitor); ok {
		steps = append(steps, Step{Name: "activity", Optional: true,
			Do: func(ctx context.Context) error { _, err := s.Activity(ctx); return err }})
	}
	if s, ok := c.Server.(filewise.Cleaner); ok {
		steps = append(steps, Step{Name: "leftovers", Do: func(ctx context.Context) error { _, err := s.Leftovers(ctx); return err }})
	}
	if s, ok := c.Server.(filewise.Locker); ok {
		steps = append(steps, Step{Name: "measuring lock", fails: true, Optional: true,
			Do: func(ctx context.Context) error { return tryLock(ctx, s) }})
	}
	return steps
}

// tryLock takes the lock, which keeps another one from it.
func tryLock(ctx context.Context, s filewise.Locker) error {
	lock, err := s.Lock(ctx, "the self-check")
	if err != nil {
		return err
	}
	err = lock.Held(ctx)
	another, taken := s.Lock(ctx, "another self-check")
	if taken == nil {
		err = errors.Join(err, errors.New("two have taken the lock"), another.Release())
	} else if filewise.CodeOf(taken) != filewise.CodeBusy {
		err = errors.Join(err, taken)
	}
	return errors.Join(err, lock.Release())
}

// live takes a workload on a layout through a trial's life.
func (c *SelfCheck) live(ctx context.Context, l filewise.Layout, w filewise.Workload) bool {
	life := &life{check: c, layout: l, work: w}
	if s, ok := c.Server.(filewise.Cleaner); ok {
		life.cleaner = s
	}
	of := fmt.Sprintf("%s on %s: ", w.Program().Workload, l.Name)
	passed := c.all(ctx, of, []Step{{Name: "build", Do: life.build}})
	if life.db == nil {
		return passed
	}
	passed = passed && c.all(ctx, of, life.steps())
	return c.all(context.WithoutCancel(ctx), of, []Step{{Name: "drop", Do: life.drop}}) && passed
}
