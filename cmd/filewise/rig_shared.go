package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"filewise"
	"filewise/experiment"
	"filewise/internal/limit"
)

// openShared opens an existing server, on which others work too: the host's
// measuring lock, the server's, and every check, before anything is built.
func (r *rig) openShared(ctx context.Context, p experiment.Plan, label string, login access) error {
	if err := r.lockHost(ctx, label); err != nil {
		return err
	}
	if err := r.connect(ctx, p.Target, login); err != nil {
		return err
	}
	locker, ok := r.server.(filewise.Locker)
	if !ok {
		return filewise.Errorf(filewise.CodeInternal, "", "%s has no measuring lock for existing servers: %w", r.engine.Name(), filewise.ErrUnsupported)
	}
	r.shared = &sharedLock{locker: locker, who: label + ", " + whoAmI()}
	if err := r.shared.take(ctx); err != nil {
		return err
	}
	r.undo = append(r.undo, r.shared.giveBack)
	if err := r.knowGauges(ctx, p); err != nil {
		return err
	}
	r.findings = r.examine(ctx, p)
	return failedFindings(p.Target, r.findings)
}

// connect opens an external server, which only reads.
func (r *rig) connect(ctx context.Context, t filewise.Target, login access) error {
	address, err := login(ctx)
	if err != nil {
		return err
	}
	r.target = t
	r.target.Address = &address
	if r.server, err = r.engine.Open(ctx, r.target); err != nil {
		return unreachable(ctx, t, filewise.HideIn(err, address.Hidden()...))
	}
	r.undo = append(r.undo, r.server.Close)
	return nil
}

// unreachable says that a server could not be opened, where the engine does not
// say it better.
func unreachable(ctx context.Context, t filewise.Target, err error) error {
	if filewise.CodeOf(err) != filewise.CodeInternal || ctx.Err() != nil {
		return err
	}
	return filewise.Errorf(filewise.CodePreflight, "look whether it runs there, and whether address, user, password and TLS options are right; \"filewise doctor --target URL\" tells more once it answers",
		"%s cannot be opened: %w", t.Address, err)
}

// whoAmI tells others who holds a server's lock.
func whoAmI() string {
	host, err := os.Hostname()
	if err != nil {
		host = "an unknown host"
	}
	return fmt.Sprintf("process %d on %s", os.Getpid(), host)
}

// knowGauges refuses limits on gauges that the server does not have.
func (r *rig) knowGauges(ctx context.Context, p experiment.Plan) error {
	limits, err := limit.ParseAll(p.AbortIf)
	if err != nil || len(limits) == 0 {
		return err
	}
	monitor, ok := r.server.(filewise.Monitor)
	if !ok {
		return filewise.Errorf(filewise.CodePreflight, "leave --abort-if out", "what others do on %s cannot be watched: %w", r.engine.Name(), filewise.ErrUnsupported)
	}
	gauges, err := monitor.Activity(ctx)
	if err != nil {
		return filewise.Errorf(filewise.CodePreflight, "give the account the rights that \"filewise doctor --target URL\" names", "what others do on the server cannot be read: %w", err)
	}
	return limit.Known(limits, gauges)
}

// sharedLock is the measuring lock of an external server. Its connection may be
// lost, so that it has to be taken again.
type sharedLock struct {
	locker filewise.Locker
	who    string
	mu     sync.Mutex
	lock   filewise.Lock
}

func (l *sharedLock) take(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	lock, err := l.locker.Lock(ctx, l.who)
	if err == nil {
		l.lock = lock
	}
	return err
}

// giveBack releases the lock if it is held.
func (l *sharedLock) giveBack() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lock == nil {
		return nil
	}
	lock := l.lock
	l.lock = nil
	return lock.Release()
}

// errNotHeld: the lock could not be taken again after it was lost.
var errNotHeld = errors.New("the server's measuring lock is not held")

// held asks the server whether the lock is held still.
func (l *sharedLock) held(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lock == nil {
		return errNotHeld
	}
	return l.lock.Held(ctx)
}

// renew takes the lock anew, after its connection may have been lost.
func (l *sharedLock) renew(ctx context.Context) error {
	_ = l.giveBack() // a lost connection has released it
	err := l.take(ctx)
	if err != nil && ctx.Err() != nil {
		return errors.Join(ctx.Err(), err)
	}
	return err
}
