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
	Store string `json:"store"` // path of the store
	Run   int64  `json:"run"`
	// Version grows when Progress changes. Progress is absent if the client has it already.
	Version  uint64    `json:"version"`
	Progress *Progress `json:"progress,omitempty"`
	Now      *Now      `json:"now"` // nil if no process measures the run, or its process does not answer
}

// Now describes what a run is doing.
type Now struct {
	PID        int           `json:"pid"`
	Cell       filewise.Cell `json:"cell"`
	Place      string        `json:"place"` // "block 3 of at most 20". Empty means no trial has begun
	Stage      string        `json:"stage"`
	Operation  string        `json:"family,omitempty"`
	Unit       string        `json:"unit,omitempty"`
	Seconds    float64       `json:"trial_seconds"`        // since the trial began
	Throughput *float64      `json:"throughput,omitempty"` // current, in Unit per second
	Course     *Course       `json:"course,omitempty"`
	Earlier    []Course      `json:"earlier,omitempty"` // the layout's last trials, newest last
	Counters   []Counter     `json:"counters,omitempty"`
	// CountersSeconds is the length of the window that Counters cover.
	CountersSeconds float64 `json:"counters_seconds,omitempty"`
	Waiting         string  `json:"waiting,omitempty"` // what the run waits for
	Pausing         bool    `json:"pausing"`           // no further trial starts
	Stopping        bool    `json:"stopping"`
}

// Counter is a counter's change since the window began.
type Counter struct {
	filewise.Delta
	PerSecond *float64 `json:"per_second,omitempty"` // nil if it is a mean or a share
}

// counters returns the deltas that can be shown, of a window of the given length.
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

// Progress holds a run's results so far, and the remaining work.
type Progress struct {
	Run        int64                 `json:"run"`
	State      string                `json:"state"`
	Scenario   string                `json:"scenario"`
	Engine     string                `json:"engine"`
	Durability string                `json:"durability"`
	Seed       uint64                `json:"seed,string"` // a string, since JavaScript's numbers are too small
	Started    time.Time             `json:"started"`
	Ended      *time.Time            `json:"ended,omitempty"`
	Baseline   string                `json:"baseline"`
	Headline   string                `json:"headline"`
	Loss       string                `json:"latency_loss,omitempty"` // of a layout to use
	Relevance  string                `json:"relevance,omitempty"`    // share of the measurement that is about files
	Sentences  []string              `json:"sentences"`
	Confidence float64               `json:"confidence"`     // of the intervals: 0.95
	Margin     float64               `json:"margin_percent"` // differences below it do not matter
	Operations []report.OperationDoc `json:"families"`       // at least one
	Charts     []report.Chart        `json:"charts"`         // as in the report
	Blocks     int                   `json:"blocks"`         // complete blocks
	MaxBlocks  int                   `json:"max_blocks"`
	Plan       Plan                  `json:"plan"`
	Left       string                `json:"left"` // time and work left, in words
	Elapsed    float64               `json:"elapsed_seconds"`
	Warnings   []filewise.Warning    `json:"warnings"`
	Log        []Line                `json:"log"` // oldest first
	// Types holds the latencies of each type of operation, if there are several types.
	Types []experiment.Latency `json:"latency_by_type,omitempty"`
}

// Line is a line of the log.
type Line struct {
	At   time.Time `json:"at"`
	Text string    `json:"text"`
	Bad  bool      `json:"bad,omitempty"`
}

// logLines is the most lines of the log that are shown.
const logLines = 200

// ProgressOf returns a run's progress from its judged trials.
func ProgressOf(d report.Data) Progress {
	p, j := d.Plan, d.Judgement
	out := Progress{
		Run: d.RunID, State: d.State, Scenario: p.Scenario, Engine: p.Target.Engine, Durability: string(p.Target.Durability), Seed: p.Seed,
		Started: d.Started, Baseline: p.Baseline, Headline: report.Headline(d), Loss: j.LatencyLoss(), Relevance: report.Relevance(d),
		Sentences:  j.Sentences(),
		Confidence: p.Confidence, Margin: p.Margin, Operations: report.Operations(d), Charts: report.Charts(d),
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

// trialLines returns the log's lines about the last trials.
func trialLines(d report.Data) []Line {
	var out []Line
	for _, t := range d.Trials[max(0, len(d.Trials)-logLines):] {
		out = append(out, Line{At: t.Started.Add(t.Elapsed), Text: report.Recorded(d, t), Bad: t.State == filewise.Failed})
	}
	return out
}

// Plan is a table of finished and remaining trials, with a row per layout and a column per block.
type Plan struct {
	Blocks []int     `json:"blocks"` // numbers of the columns. 0 means the pilots
	Rows   []PlanRow `json:"rows"`
	More   int       `json:"more"` // most blocks after the last column
}

// PlanRow is a layout's row.
type PlanRow struct {
	Layout string     `json:"layout"`
	Cells  []PlanCell `json:"cells"`
}

// PlanCell is a layout's trial in a block.
type PlanCell struct {
	State   string `json:"state"`           // done, failed, todo, or empty if there is no trial
	Order   int    `json:"order,omitempty"` // in its block, from 1. 0 means not known yet
	Failed  int    `json:"failed,omitempty"`
	Outcome string `json:"outcome,omitempty"`
}

// The states of a cell.
const (
	cellDone   = "done"
	cellFailed = "failed"
	cellTodo   = "todo"
)

// planColumns is the most blocks that are shown. planToCome is the most of them that have not begun.
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

// add counts a trial. A failed trial that was repeated successfully is done.
func (c *PlanCell) add(d report.Data, t filewise.Trial) {
	c.Order = t.Cell.Position + 1
	if t.State == filewise.Failed {
		c.Failed++
		c.State, c.Outcome = cellFailed, t.Reason
		return
	}
	c.State, c.Outcome = cellDone, report.Outcome(d.Plan, t)
}

// span returns the first and the last column of the plan.
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

// maxBlocks returns the most blocks that the run can have.
func maxBlocks(d report.Data) int {
	if n := d.Judgement.Schedule.MaxBlocks; n > 0 {
		return n
	}
	return d.Plan.MaxBlocks
}

// wanted reports whether a layout still needs a trial in a block: the run goes on, and the layout was not dropped
// before the block.
func wanted(d report.Data, layout, block int) bool {
	if d.Judgement.Decision.Ending != experiment.GoesOn {
		return false
	}
	analysis, ok := d.Judgement.First().Result.Last()
	if !ok || layout >= len(analysis.Estimates) {
		return true
	}
	dropped := analysis.Estimates[layout].DroppedAt
	return dropped == 0 || block <= dropped
}
