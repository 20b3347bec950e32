package experiment

import (
	"fmt"
	"time"

	"filewise"
	"filewise/lab/drive"
	"filewise/lab/probe"
)

// EventKind is the subject of an event.
type EventKind string

// Kinds of events.
const (
	EventStage    EventKind = "stage"    // a trial entered a stage of its life
	EventRecorded EventKind = "recorded" // a trial is stored; Judgement is new, or in a long run of few trials before
	EventDesign   EventKind = "design"   // the run continues with another design: Plan, for the reason Why
	EventWaiting  EventKind = "waiting"  // no trial may start before Until; if zero, until it is released
)

// Event is something that happened in a run.
type Event struct {
	Kind      EventKind
	Cell      filewise.Cell
	Stage     string
	Live      *drive.Live // the running trial's progress
	Probes    *probe.Live // the running trial's counters
	Operation string      // of the running measure; Unit is the unit of its work
	Unit      string
	Trial     *filewise.Trial
	Judgement Judgement
	Why       string
	Until     time.Time
	Plan      *Plan
}

// Waits returns what the next trial waits for, and until when.
func (e Event) Waits() string {
	if e.Until.IsZero() {
		return e.Why
	}
	return fmt.Sprintf("%s: waiting until %s", e.Why, e.Until.Local().Format("Mon 2006-01-02 15:04"))
}

func (r *Runner) notify(e Event) {
	if r.Notify != nil {
		r.locks.telling.Lock()
		defer r.locks.telling.Unlock()
		r.Notify(e)
	}
}
