package report

import (
	"time"

	"filewise"
	"filewise/experiment"
	"filewise/workload"
)

// Data is one run as it is stored, with its judgement.
type Data struct {
	RunID     int64
	Version   string // of Filewise, when it measured
	Started   time.Time
	Ended     time.Time // zero: not ended
	State     string    // of the run, as the store names it
	Plan      experiment.Plan
	Scenario  workload.Scenario
	Trials    []filewise.Trial // in the order in which they ran
	Judgement experiment.Judgement
	Machine   []filewise.Fact
	Server    []filewise.Fact
	Rejudged  bool // by other rules than the run's own
	// Limit is a run of the same backups that were thrown away; nil: there is none.
	Limit *Data
}
