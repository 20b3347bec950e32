package web

import (
	"math"
	"slices"
	"time"

	"filewise"
	"filewise/lab/experiment"
	"filewise/lab/probe"
	"filewise/results/report"
)

// Status is the state of one run.
type Status struct {
	Store string `json:"store"` // the file that holds it
	Run   int64  `json:"run"`
	// Version grows when Progress changes; Progress is absent if the asker has it.
	Version  uint64    `json:"version"`
	Progress *Progress `json:"progress,omitempty"`
	Now      *Now      `json:"now"` // nil means no process measures it, or its process does not answer
}

// Now is a run's present work.
type Now struct {
	PID        int           `json:"pid"`
	Cell       filewise.Cell `json:"cell"`
	Place      string        `json:"place"` // "block 3 of at most 20". Empty means no trial has begun
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

// Counter is a counter's change since the window began.
type Counter struct {
	filewise.Delta
	PerSecond *float64 `json:"per_second,omitempty"` // nil: it is a mean or a share
}

// counters returns the deltas of so much time that can be shown.
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

// Progress holds a run's results so far, and the work left.
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
	Loss       string             `json:"latency_loss,omitempty"` // of a layout to use
	Relevance  string             `json:"relevance,omitempty"`    // how much of what was measured is about files
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
	// Types are the latencies of each type of operations, if there are several.
	Types []experiment.Latency `json:"latency_by_type,omitempty"`
}

// Line is a line of the log.
type Line struct {
	At   time.Time `json:"at"`
	Text string    `json:"text"`
	Bad  bool      `json:"bad,omitempty"`
}

// logLines is the number of lines of the log that are shown.
const logLines = 200

// ProgressOf returns a run's progress by its trials, as they are judged.
func ProgressOf(d report.Data) Progress {
	p, j := d.Plan, d.Judgement
	out := Progress{
		Run: d.RunID, State: d.State, Scenario: p.Scenario, Engine: p.Target.Engine, Durability: string(p.Target.Durability), Seed: p.Seed,
		Started: d.Started, Baseline: p.Baseline, Headline: report.Headline(d), Loss: j.LatencyLoss(), Relevance: report.Relevance(d),
		Sentences:  j.Sentences(),
		Confidence: p.Confidence, Margin: p.Margin, Families: report.Families(d), Charts: report.Charts(d),
		Blocks: j.First().Result.Blocks, MaxBlocks: j.Schedule.MaxBlocks, Plan: planOf(d), Left: report.Left(d),
		Elapsed: j.Elapsed.Seconds(), Warnings: report.Notices(j.Warnings), Log: trialLines(d),
		Types: slices.DeleteFunc(slices.Clone(j.Latencies), func(l experiment.Latency) bool { return l.Type == "" || l.Count == 0 }),
	}
	if !d.Ended.IsZero() {
		out.Ended = &d.Ended
	}
	if over := j.Decision; over.Ending != experiment.GoesOn {
		out.Left = over.Why
	}
	return out
}

// trialLines returns the log's lines of the last trials.
func trialLines(d report.Data) []Line {
	var out []Line
	for _, t := range d.Trials[max(0, len(d.Trials)-logLines):] {
		out = append(out, Line{At: t.Started.Add(t.Elapsed), Text: report.Recorded(d, t), Bad: t.State == filewise.Failed})
	}
	return out
}

// Plan is the finished and the remaining work, as a table of layouts by blocks.
type Plan struct {
	Blocks []int     `json:"blocks"` // the columns. 0 means the pilots
	Rows   []PlanRow `json:"rows"`
	More   int       `json:"more"` // blocks after the last column, at most
}

// PlanRow is a layout's.
type PlanRow struct {
	Layout string     `json:"layout"`
	Cells  []PlanCell `json:"cells"`
}

// PlanCell is one trial.
type PlanCell struct {
	State   string `json:"state"`           // done, failed, todo, or empty: there is none
	Order   int    `json:"order,omitempty"` // within its block, from 1. 0 means not known yet
	Failed  int    `json:"failed,omitempty"`
	Outcome string `json:"outcome,omitempty"`
}

// The states of a cell.
const (
	cellDone   = "done"
	cellFailed = "failed"
	cellTodo   = "todo"
)

// planColumns is the number of blocks that are shown: the last ones that have begun, and some to come.
const (
	planColumns = 40
	planToCome  = 10
)

func planOf(d report.Data) Plan {
	first, last := span(d)
	var out Plan
	out.More = max(0, maxBlocks(d)-last)
	if d.Judgement.Decision.Ending != experiment.GoesOn {
		out.More = 0
	}
	at := make(map[int]int)
	for b := first; b <= last; b++ {
		at[b] = len(out.Blocks)
		out.Blocks = append(out.Blocks, b)
	}
	for i, l := range d.Plan.Layouts {
		row := PlanRow{Layout: l.Name, Cells: make([]PlanCell, len(out.Blocks))}
		for c, b := range out.Blocks {
			if wanted(d, i, b) {
				row.Cells[c].State = cellTodo
			}
		}
		out.Rows = append(out.Rows, row)
	}
	for _, t := range d.Trials {
		c, shown := at[t.Cell.Block]
		r := slices.IndexFunc(out.Rows, func(r PlanRow) bool { return r.Layout == t.Cell.Layout })
		if shown && r >= 0 {
			out.Rows[r].Cells[c].add(d, t)
		}
	}
	return out
}

// add counts a trial; what failed and was done again is done.
func (c *PlanCell) add(d report.Data, t filewise.Trial) {
	c.Order = t.Cell.Position + 1
	if t.State == filewise.Failed {
		c.Failed++
		c.State, c.Outcome = cellFailed, t.Reason
		return
	}
	c.State, c.Outcome = cellDone, report.Outcome(d.Plan, t)
}

// span returns the first and last column of the plan.
func span(d report.Data) (first, last int) {
	begun := 0
	for _, t := range d.Trials {
		begun = max(begun, t.Cell.Block)
	}
	last = begun
	if d.Judgement.Decision.Ending == experiment.GoesOn {
		last = max(begun, min(maxBlocks(d), begun+planToCome))
	}
	return max(0, last-planColumns+1), last
}

// maxBlocks returns the most blocks that there can be.
func maxBlocks(d report.Data) int {
	if n := d.Judgement.Schedule.MaxBlocks; n > 0 {
		return n
	}
	return d.Plan.MaxBlocks
}

// wanted reports whether a layout has a trial in a block that is not done yet: the run goes on, and the layout was
// not dropped before.
func wanted(d report.Data, layout, block int) bool {
	if d.Judgement.Decision.Ending != experiment.GoesOn {
		return false
	}
	look, ok := d.Judgement.First().Result.Last()
	if !ok || layout >= len(look.Estimates) {
		return true
	}
	dropped := look.Estimates[layout].DroppedAt
	return dropped == 0 || block <= dropped
}
