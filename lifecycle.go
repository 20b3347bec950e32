package filewise

import (
	"context"
	"time"
)

// Lifecycle times a server's events other than work, for engines whose server Filewise may stop, kill and start.
// Sessions end with the server.
type Lifecycle interface {
	// Checkpoint writes everything dirty to the data files and reports how long
	// that took.
	Checkpoint(context.Context) (time.Duration, error)
	// Shutdown stops the server cleanly and reports how long that took.
	Shutdown(context.Context) (time.Duration, error)
	// Crash ends the server without warning, as a power cut would end it.
	Crash(context.Context) error
	// Open starts the stopped or crashed server and reports the time until it
	// answered its first query; after Crash that is the crash recovery.
	Open(context.Context) (time.Duration, error)
}

// Timed splits the time of a Resetter's or Restarter's last call into parts that are reported apart: "stop", "copy",
// "start".
type Timed interface {
	Took() []Stage
}

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
