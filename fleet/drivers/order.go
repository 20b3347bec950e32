// Package drivers has several processes, the drivers, put one load on one server in lockstep: a crew arms each of
// them with its connections, has all start at one instant, and merges what they have done. How a driver is reached is
// the caller's affair.
//
// All have the instant by the server's clock, against which each measures its own before every load. The window opens
// when all have begun, and a late driver makes it shorter. A start that leaves less than half of it, or a driver that
// does not answer, voids the trial; a driver that is gone is waited for before the next one.
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

// Order holds a request to a driver: one of these, or nothing, to let go of all that it has.
type Order struct {
	Greet *Greeting `json:"greet,omitempty"`
	Arm   *Task     `json:"arm,omitempty"`
	Start *Start    `json:"start,omitempty"`
}

// Greeting checks whether the driver can work on a target.
type Greeting struct {
	Plan    experiment.Plan `json:"plan"`
	Version string          `json:"version"` // of Filewise, which all have to be of
}

// Task is a driver's part of a load. Its connections wait when they are open.
type Task struct {
	ID          string          `json:"id"` // of the load, in the run
	Plan        experiment.Plan `json:"plan"`
	Layout      string          `json:"layout"`
	Build       string          `json:"build"`
	Phase       int             `json:"phase"`
	First       int             `json:"first"` // of its connections
	Connections int             `json:"connections"`
	Done        filewise.Ledger `json:"done"` // of its connections, before
	Discard     bool            `json:"discard,omitempty"`
	Chunk       int64           `json:"chunk,omitempty"`
	WarmUp      time.Duration   `json:"warm_up_ns"`
	Window      time.Duration   `json:"window_ns"`
	AllCounts   bool            `json:"all_counts,omitempty"`
	Ops         []int64         `json:"ops"`
}

// Start has an armed load start at an instant of the server's clock.
type Start struct {
	ID string    `json:"id"`
	At time.Time `json:"at"`
}

// Answer is a driver's reply to an Order.
type Answer struct {
	Clock   Reading       `json:"clock"`
	Result  drive.Result  `json:"result"`  // of a start
	Told    time.Duration `json:"told_ns"` // so long before the start; negative: after it
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

// error is the failure as it was at the driver.
func (f Failure) error(host string) error {
	err := errors.New(f.Text)
	if f.Late {
		err = fmt.Errorf("%w: %w", experiment.ErrVoid, err)
	}
	return filewise.Errorf(f.Code, f.Remedy, "driver %s: %w", host, &filewise.Classed{Class: f.Class, Err: err})
}

// Reading is the lead of the server's clock over a process's own.
type Reading struct {
	Ahead  time.Duration `json:"ahead_ns"`
	Within time.Duration `json:"within_ns"` // to either side
}

// readings are taken of a clock: the reading of the shortest way there and back counts.
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
		if i > 0 && back/2 < best.Within { // the first may have opened a connection
			best = Reading{there.Sub(asked.Add(back / 2)), back / 2}
		}
	}
	return best, nil
}
