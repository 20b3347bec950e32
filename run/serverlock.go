package run

import (
	"context"
	"errors"
	"sync"

	"filewise"
)

// serverLock is the measuring lock of an external server. Its connection may be lost, so
// that it has to be taken again.
type serverLock struct {
	locker filewise.Locker
	holder filewise.Holder
	mu     sync.Mutex
	lock   filewise.Lock
}

func (l *serverLock) take(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	lock, err := l.locker.Lock(ctx, l.holder)
	if err == nil {
		l.lock = lock
	}
	return err
}

// giveBack releases the lock if it is held.
func (l *serverLock) giveBack() error {
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
func (l *serverLock) held(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lock == nil {
		return errNotHeld
	}
	return l.lock.Held(ctx)
}

// renew takes the lock anew, after its connection may have been lost.
func (l *serverLock) renew(ctx context.Context) error {
	_ = l.giveBack() // a lost connection has released it
	err := l.take(ctx)
	if err != nil && ctx.Err() != nil {
		return errors.Join(ctx.Err(), err)
	}
	return err
}
