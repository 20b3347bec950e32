package web

import (
	"slices"

	"filewise"
	"filewise/experiment"
	"filewise/report"
)

// logLines is how much of the log is shown.
const logLines = 200

// ProgressOf is what the trials of a run, as they are judged, show of it.
func ProgressOf(d report.Data) Progress {
	p, j := d.Plan, d.Judgement
	out := Progress{
		Run: d.RunID, State: d.State, Scenario: p.Scenario, Engine: p.Target.Engine, Durability: string(p.Target.Durability), Seed: p.Seed,
		Started: d.Started, Baseline: p.Baseline, Headline: report.Headline(d), Relevance: report.Relevance(d), Sentences: j.Sentences(),
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

// trialLines are the log's lines of the last trials.
func trialLines(d report.Data) []Line {
	var out []Line
	for _, t := range d.Trials[max(0, len(d.Trials)-logLines):] {
		out = append(out, Line{At: t.Started.Add(t.Elapsed), Text: report.Recorded(d, t), Bad: t.State == filewise.Failed})
	}
	return out
}

// Plan is what is done and what is left, as a table of layouts by blocks.
type Plan struct {
	Blocks []int     `json:"blocks"` // the columns; 0: the pilots
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
	Order   int    `json:"order,omitempty"` // within its block, from 1; 0: not known yet
	Failed  int    `json:"failed,omitempty"`
	Outcome string `json:"outcome,omitempty"`
}

// The states of a cell.
const (
	cellDone   = "done"
	cellFailed = "failed"
	cellTodo   = "todo"
)

// planColumns is how many blocks are shown: the last ones that have begun, and
// some to come.
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

// span are the first and last column of the plan.
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

// maxBlocks is how many blocks there can be.
func maxBlocks(d report.Data) int {
	if n := d.Judgement.Schedule.MaxBlocks; n > 0 {
		return n
	}
	return d.Plan.MaxBlocks
}

// wanted tells whether a layout has a trial in a block that is not done yet: the
// run goes on, and the layout was not dropped before.
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
