package run

import (
	"context"
	"errors"

	"filewise"
	"filewise/host/hostlock"
	"filewise/lab/experiment"
	"filewise/lab/storage"
	"filewise/lab/workload"
	"filewise/run/plan"
)

// Environment is a plan's place of measurement, or the target of a look without a plan. It holds the opened server with
// its directories and locks. Close releases all of them.
type Environment struct {
	Engine   filewise.Engine
	Plan     experiment.Plan
	Workload filewise.Workload
	Scripts  []filewise.Statements // a trial's statements and files, for each layout
	Server   filewise.Server       // nil before it is opened
	Target   filewise.Target       // after opening: with scratch directories, or with the address's secrets

	findings []filewise.Finding // of an external server
	limits   []storage.Limit    // of the volumes, as far as known
	facts    []filewise.Fact    // of the storage
	origin   *filewise.Target   // database to dump, with secrets. Nil means there is none
	others   filewise.Server    // server of the origin, for its monitor. Nil means no limits on others
	lock     *hostlock.Lock
	locked   *serverLock // of an external server. Nil means no others work there
	undo     []func() error
	opened   int                 // length of undo before the server and its memory limit
	started  func(pid int) error // called with each process of a server, without limiting its memory; may be nil
}

// Login returns the address of an external server with its secrets.
type Login func(context.Context) (filewise.Address, error)

// Prepare looks up the names in the plan, and checks that the engine can do every layout. It touches nothing.
func Prepare(e filewise.Engine, p experiment.Plan) (*Environment, error) {
	sc, err := workload.Lookup(p.Scenario)
	if err != nil {
		return nil, err
	}
	w, err := sc.New(p.Params, p.Seed)
	if err != nil {
		return nil, err
	}
	if p.Target.Mode != filewise.Embedded { // an embedded engine opens no connections
		if err := experiment.FitsOpenFiles(p.Program(w).Connections()); err != nil {
			return nil, err
		}
	}
	scripts, err := plan.Scripts(e, p, p.Program(w))
	return &Environment{Engine: e, Plan: p, Workload: w, Scripts: scripts, Target: p.Target}, err
}

// SetUp prepares everything for the plan's first trial. If it refuses the plan, it leaves nothing behind. It first
// takes the host's measuring lock, then an external server's, and builds nothing before. Processes that query the lock
// learn the path of the run's store. An empty store means the run is not stored.
func SetUp(ctx context.Context, e filewise.Engine, p experiment.Plan, login Login, store string) (*Environment, error) {
	env, err := Prepare(e, p)
	if err != nil {
		return nil, err
	}
	if err := env.Preflight(); err != nil {
		return nil, err
	}
	open := func() error { return env.openExternal(ctx, login) }
	if p.Target.Mode != filewise.External {
		open = func() error {
			if err := env.openOrigin(ctx, login); err != nil {
				return err
			}
			return env.openHere(ctx)
		}
	}
	// Reading a large dump takes a while, so first check whether another run is measuring.
	if err := env.lockHost(ctx, hostlock.Holder{What: env.label(), Store: store}); err != nil {
		return nil, err
	}
	if err := env.checkDump(ctx); err != nil {
		return nil, errors.Join(err, env.Close())
	}
	if err := open(); err != nil {
		return nil, errors.Join(err, env.Close())
	}
	return env, nil
}

// LookAt opens a target without a plan, to read its properties and capabilities.
func LookAt(ctx context.Context, e filewise.Engine, t filewise.Target, login Login) (*Environment, error) {
	env := &Environment{Engine: e, Target: t}
	if err := env.Look(ctx, login); err != nil {
		return nil, errors.Join(err, env.Close())
	}
	return env, nil
}

// Look opens the target without a lock. An external server is only read; any other target is opened on scratch
// directories. Close is needed even after an error.
func (env *Environment) Look(ctx context.Context, login Login) error {
	if env.Target.Mode == filewise.External {
		return env.connect(ctx, login)
	}
	if err := env.makeScratch("a look at " + env.Engine.Name()); err != nil {
		return err
	}
	return env.open(ctx)
}

// label returns the name of the measurement for other users.
func (env *Environment) label() string { return env.Plan.Scenario + " on " + env.Target.Engine }

// lockHost takes the host's measuring lock.
func (env *Environment) lockHost(ctx context.Context, h hostlock.Holder) error {
	lock, err := hostlock.Acquire(ctx, h)
	if err != nil {
		return err
	}
	env.lock, env.undo = lock, append(env.undo, lock.Release)
	return nil
}

// openHere opens a server on scratch directories of this machine: embedded, or managed.
func (env *Environment) openHere(ctx context.Context) error {
	if err := env.makeScratch(env.label()); err != nil {
		return err
	}
	if err := env.knowStorage(ctx); err != nil {
		return err
	}
	return env.open(ctx)
}

func (env *Environment) open(ctx context.Context) (err error) {
	if env.Server, err = opened(ctx, env.Engine, env.Target); err != nil {
		return err
	}
	env.undo = append(env.undo, env.Server.Close)
	return nil
}

// Close releases everything that was opened, in reverse order, and returns all errors.
func (env *Environment) Close() error { return env.closeFrom(0) }

// closeFrom releases everything except the first steps of undo.
func (env *Environment) closeFrom(first int) error {
	var errs []error
	for i := len(env.undo) - 1; i >= first; i-- {
		errs = append(errs, env.undo[i]())
	}
	env.undo = env.undo[:min(first, len(env.undo))]
	return errors.Join(errs...)
}
