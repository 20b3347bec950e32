package filewise

import (
	"context"
	"time"
)

// Clock is the time that an experiment runs in: real, or virtual in simulation.
type Clock interface {
	Now() time.Time
	// Sleep returns early with the context's error when that ends.
	Sleep(context.Context, time.Duration) error
}

// RealClock is the machine's clock.
type RealClock struct{}

// Now is the wall clock with its monotonic reading.
func (RealClock) Now() time.Time { return time.Now() }

// Sleep waits for d.
func (RealClock) Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
