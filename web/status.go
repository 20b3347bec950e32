package web

import (
	"math"
	"time"

	"filewise"
	"filewise/experiment"
	"filewise/probe"
	"filewise/report"
)

// Status is what is known of one run.
type Status struct {
	Store string `json:"store"` // the file that holds it
	Run   int64  `json:"run"`
	// Version grows when Progress changes; Progress is absent where the asker has it.
	Version  uint64    `json:"version"`
	Progress *Progress `json:"progress,omitempty"`
	Now      *Now      `json:"now"` // nil: nobody measures it, or who does cannot be asked
}

// Now is what a run is doing.
type Now struct {
	PID        int           `json:"pid"`
	Cell       filewise.Cell `json:"cell"`
	Place      string        `json:"place"` // "block 3 of at most 20"; empty: no trial has begun
	Stage      string        `json:"stage"`
	Family     string        `json:"family,omitempty"`
	Unit       string        `json:"unit,omitempty"`
	Seconds    float64       `json:"trial_seconds"`        // since the trial began
	Throughput *float64      `json:"throughput,omitempty"` // now, in Unit per second
	Course     *Course       `json:"course,omitempty"`
	Earlier    []Course      `json:"earlier,omitempty"` // of the layout's last trials, the newest last
	Counters   []Counter     `json:"counters,omitempty"`
	// CountersSeconds is the time of the window that Counters are of.
	CountersSeconds float64 `json:"counters_seconds,omitempty"`
	Waiting         string  `json:"waiting,omitempty"` // for what
	Pausing         bool    `json:"pausing"`           // no further trial starts
	Stopping        bool    `json:"stopping"`
}

// Counter is how far a counter has moved since the window began.
type Counter struct {
	filewise.Delta
	PerSecond *float64 `json:"per_second,omitempty"` // nil: it is a mean or a share
}

// counters are what can be shown of the deltas of so much time.
func counters(deltas []filewise.Delta, since time.Duration) []Counter {
	var out []Counter
	for _, d := range deltas {
		if math.IsNaN(d.Value) || math.IsInf(d.Value, 0) || d.Value == 0 || since <= 0 {
			continue
		}
		c := Counter{Delta: d}
		if !probe.IsMean(d) {
			x := d.Value / since.Seconds()
			c.PerSecond = &x
		}
		out = append(out, c)
	}
	return out
}

// Progress is what a run has found so far, and what is left to do.
type Progress struct {
	Run        int64              `json:"run"`
	State      string             `json:"state"`
	Scenario   string             `json:"scenario"`
	Engine     string             `json:"engine"`
	Durability string             `json:"durability"`
	Seed       uint64             `json:"seed,string"` // beyond what a number of JavaScript holds
	Started    time.Time          `json:"started"`
	Ended      *time.Time         `json:"ended,omitempty"`
	Baseline   string             `json:"baseline"`
	Headline   string             `json:"headline"`
	Relevance  string             `json:"relevance,omitempty"` // how much of what was measured is about files
	Sentences  []string           `json:"sentences"`
	Confidence float64            `json:"confidence"`     // of the intervals: 0.95
	Margin     float64            `json:"margin_percent"` // below which differences do not matter
	Families   []report.FamilyDoc `json:"families"`       // at least one
	Charts     []report.Chart     `json:"charts"`         // of the report
	Blocks     int                `json:"blocks"`         // complete ones
	MaxBlocks  int                `json:"max_blocks"`
	Plan       Plan               `json:"plan"`
	Left       string             `json:"left"` // in words
	Elapsed    float64            `json:"elapsed_seconds"`
	Warnings   []filewise.Warning `json:"warnings"`
	Log        []Line             `json:"log"` // the oldest first
	// Types are the latencies of each type of operations, where there are several.
	Types []experiment.Latency `json:"latency_by_type,omitempty"`
}

// Line is a line of the log.
type Line struct {
	At   time.Time `json:"at"`
	Text string    `json:"text"`
	Bad  bool      `json:"bad,omitempty"`
}
