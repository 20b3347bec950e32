// Package drivers has several processes, the drivers, put one load on one server in lockstep. A crew arms each driver
// with its connections, starts all at one instant, and merges their results. How a driver is reached is up to the
// caller.
//
// The instant is in the server's time, and each driver compares its own clock with it before every load. The window
// opens once all have begun, so a late driver shortens it. The trial is void if less than half of the window is left,
// or a driver does not answer. A driver that is gone is waited for before the next trial.
package drivers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"filewise"
	"filewise/lab/drive"
	"filewise/lab/experiment"
)

// Order is a request to a driver: one of the fields or, if all are nil, to release everything.
type Order struct {
	Greet *Greeting `json:"greet,omitempty"`
	Arm   *Task     `json:"arm,omitempty"`
	Start *Start    `json:"start,omitempty"`
}

// Greeting asks whether the driver can work on a target.
type Greeting struct {
	Plan    experiment.Plan `json:"plan"`
	Version string          `json:"version"` // of Filewise, the same for all
}

// Task is a driver's part of a load. Once its connections are open, they wait.
type Task struct {
	ID          string          `json:"id"` // of the load, unique in the run
	Plan        experiment.Plan `json:"plan"`
	Layout      string          `json:"layout"`
	Build       string          `json:"build"`
	Phase       int             `json:"phase"`
	First       int             `json:"first"` // number of its first connection
	Connections int             `json:"connections"`
	Done        filewise.Ledger `json:"done"` // by its connections, before this load
	Discard     bool            `json:"discard,omitempty"`
	Chunk       int64           `json:"chunk,omitempty"`
	WarmUp      time.Duration   `json:"warm_up_ns"`
	Window      time.Duration   `json:"window_ns"`
	AllCounts   bool            `json:"all_counts,omitempty"`
	Ops         []int64         `json:"ops"`
}

// Start starts an armed load at an instant of the server's clock.
type Start struct {
	ID string    `json:"id"`
	At time.Time `json:"at"`
}

// Answer is a driver's reply to an Order.
type Answer struct {
	Clock   Reading       `json:"clock"`
	Result  drive.Result  `json:"result"`  // of the load, after Start
	Lead    time.Duration `json:"told_ns"` // how long before the start the order came; negative means after it
	Late    time.Duration `json:"late_ns"`
	Failure *Failure      `json:"failure,omitempty"`
}

// Failure is an error on its way to another process, without secrets.
type Failure struct {
	Text   string         `json:"text"`
	Class  filewise.Class `json:"class"`
	Code   filewise.Code  `json:"code"`
	Remedy string         `json:"remedy"`
	Late   bool           `json:"late,omitempty"` // too late for its start
}

func failureOf(err error, hide func(string) string) *Failure {
	return &Failure{Text: hide(err.Error()), Class: filewise.ClassOf(err), Code: filewise.CodeOf(err), Remedy: hide(filewise.RemedyOf(err)),
		Late: errors.Is(err, drive.ErrLate)}
}

// error returns the failure as the error that it was at the driver.
func (f Failure) error(host string) error {
	err := errors.New(f.Text)
	if f.Late {
		err = fmt.Errorf("%w: %w", experiment.ErrVoid, err)
	}
	return filewise.Errorf(f.Code, f.Remedy, "driver %s: %w", host, &filewise.Classed{Class: f.Class, Err: err})
}

// Reading is the lead of the server's clock over the process's own.
type Reading struct {
	Ahead  time.Duration `json:"ahead_ns"`
	Within time.Duration `json:"within_ns"` // error of Ahead, in either direction
}

// readings counts the readings of a clock. The reading with the shortest round trip counts.
const readings = 12

// read compares the clocks.
func read(ctx context.Context, s filewise.Sharer, clock filewise.Clock) (Reading, error) {
	best := Reading{Within: time.Hour}
	for i := range readings {
		asked := clock.Now()
		there, err := s.Now(ctx)
		if err != nil {
			return best, err
		}
		back := clock.Now().Sub(asked)
		if i > 0 && back/2 < best.Within { // the first reading may have opened a connection
			best = Reading{there.Sub(asked.Add(back / 2)), back / 2}
		}
	}
	return best, nil
}
