package store

import (
	"time"

	"filewise"
	"filewise/experiment"
	"filewise/internal/process"
)

// State is how far a run has come.
type State string

// The states of a run. A run whose owner is dead reads as interrupted.
const (
	Running     State = "running"
	Done        State = "done"
	Interrupted State = "interrupted"
	Failed      State = "failed"
)

// Run is one execution of an experiment, with all that a report needs beside
// its trials.
type Run struct {
	ID      int64            `json:"id"`
	Started time.Time        `json:"started"`
	Ended   *time.Time       `json:"ended"` // nil while it runs
	State   State            `json:"state"`
	Version string           `json:"version"` // of the Filewise that made it
	Owner   process.Identity `json:"owner"`
	Plan    experiment.Plan  `json:"plan"`
	Machine []filewise.Fact  `json:"machine"`
	Server  []filewise.Fact  `json:"server"`
	// Warnings are those of the preflight; trials have their own.
	Warnings []filewise.Warning `json:"warnings"`
	Ending   experiment.Ending  `json:"ending,omitempty"`
	Why      string             `json:"why,omitempty"`     // it ended, in a sentence
	Verdict  string             `json:"verdict,omitempty"` // in one line
	// Origin is where it was imported from; nil: it was measured for this store.
	Origin *Origin `json:"origin,omitempty"`
}

// RunInfo is one line of the list of runs.
type RunInfo struct {
	ID       int64             `json:"id"`
	Started  time.Time         `json:"started"`
	Ended    *time.Time        `json:"ended"`
	State    State             `json:"state"`
	Name     string            `json:"name,omitempty"`
	Tags     []string          `json:"tags,omitempty"` // KEY=VALUE
	Scenario string            `json:"scenario"`
	Engine   string            `json:"engine"`
	Layouts  []string          `json:"layouts"`
	Trials   int               `json:"trials"` // done, without pilots
	Failed   int               `json:"failed"` // trials that failed, without pilots
	Ending   experiment.Ending `json:"ending,omitempty"`
	Verdict  string            `json:"verdict,omitempty"`
	Origin   *Origin           `json:"origin,omitempty"` // where it was imported from; nil: nowhere
}

// Outcome is what is known at the end of a run.
type Outcome struct {
	State   State // Done, Interrupted or Failed
	Ended   time.Time
	Ending  experiment.Ending
	Why     string
	Verdict string // in one line, for the list
}
