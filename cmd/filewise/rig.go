package main

import (
	"context"
	"errors"

	"filewise"
	"filewise/experiment"
	"filewise/hostlock"
	"filewise/workload"
)

// rig is everything that a measuring run holds: it is set up before the first
// trial and torn down whatever happens.
type rig struct {
	engine   filewise.Engine
	workload filewise.Workload
	server   filewise.Server
	target   filewise.Target // as opened: scratch directories, or the address with its secrets
	scripts  []filewise.Script
	lock     *hostlock.Lock
	shared   *sharedLock        // of an external server; nil: the server is ours
	findings []filewise.Finding // of an external server
	storage  storageLimits
	undo     []func() error
}

// prepare looks everything up and checks that the engine can do the plan.
// Nothing is touched.
func prepare(p experiment.Plan) (*rig, error) {
	e, err := lookupEngine(p.Target.Engine)
	if err != nil {
		return nil, err
	}
	sc, err := workload.Lookup(p.Scenario)
	if err != nil {
		return nil, err
	}
	w, err := sc.New(p.Params, p.Seed)
	if err != nil {
		return nil, err
	}
	if p.Target.Mode != filewise.Embedded { // whose connections are Filewise's own to count
		if err := experiment.FitsOpenFiles(p.Program(w).Connections); err != nil {
			return nil, err
		}
	}
	scripts, err := script(e, p, p.Program(w))
	return &rig{engine: e, workload: w, scripts: scripts}, err
}

// access gives the address of an external server with its secrets.
type access func(context.Context) (filewise.Address, error)

// setUp makes everything ready for the plan's first trial, or refuses it and
// leaves nothing. It comes before the store is made, so that a refused run
// leaves no store either.
func setUp(ctx context.Context, p experiment.Plan, login access) (*rig, error) {
	r, err := prepare(p)
	if err != nil {
		return nil, err
	}
	open := r.openOwn
	if p.Target.Mode == filewise.External {
		open = func(ctx context.Context, p experiment.Plan, label string) error {
			return r.openShared(ctx, p, label, login)
		}
	} else if err := preflight(p, r.scripts); err != nil {
		return nil, err
	}
	if err := open(ctx, p, p.Scenario+" on "+p.Target.Engine); err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r, nil
}

// lockHost takes the host's measuring lock.
func (r *rig) lockHost(ctx context.Context, label string) error {
	lock, err := hostlock.Acquire(ctx, hostlock.Holder{What: label})
	if err != nil {
		return err
	}
	r.lock, r.undo = lock, append(r.undo, surviveBrokenPipe(), lock.Release)
	return nil
}

// close undoes what open did, in reverse, and returns every error.
func (r *rig) close() error {
	var errs []error
	for i := len(r.undo) - 1; i >= 0; i-- {
		errs = append(errs, r.undo[i]())
	}
	r.undo = nil
	return errors.Join(errs...)
}
