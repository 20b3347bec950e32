package private

import (
	"context"
	"time"
)

type restarter struct{ instance *instance }

// Restart stops the server cleanly and starts it again, with nothing in its
// buffer pool.
func (r restarter) Restart(ctx context.Context) error {
	if _, _, err := r.instance.running(); err != nil {
		return failed("restart", err)
	}
	if err := r.instance.stop(ctx); err != nil {
		return failed("restart", err)
	}
	return failed("restart", r.instance.start(ctx))
}

// lifecycle times the server's life cycle. It implements filewise.Lifecycle.
type lifecycle struct{ instance *instance }

// Checkpoint writes everything dirty to the data files.
func (l lifecycle) Checkpoint(ctx context.Context) (time.Duration, error) {
	start := time.Now()
	err := settler{l.instance}.Settle(ctx)
	return time.Since(start), err
}

// Shutdown stops the server as its administrator would (innodb_fast_shutdown as
// it is set: 1 unless --set says otherwise).
func (l lifecycle) Shutdown(ctx context.Context) (time.Duration, error) {
	if _, _, err := l.instance.running(); err != nil {
		return 0, failed("shutdown", err)
	}
	start := time.Now()
	err := l.instance.stop(ctx)
	return time.Since(start), failed("shutdown", err)
}

// Crash kills the server: SIGKILL, as the kernel would for want of memory. The
// operating system goes on, so what was written but not synced is not lost.
func (l lifecycle) Crash(context.Context) error {
	if _, _, err := l.instance.running(); err != nil {
		return failed("crash", err)
	}
	l.instance.kill()
	return nil
}

// Open starts the server until it answers; after Crash, recovery included.
func (l lifecycle) Open(ctx context.Context) (time.Duration, error) {
	l.instance.mu.Lock()
	running := l.instance.proc != nil
	l.instance.mu.Unlock()
	if running {
		return 0, failed("open", errRuns)
	}
	start := time.Now()
	err := l.instance.start(ctx)
	return time.Since(start), failed("open", err)
}
