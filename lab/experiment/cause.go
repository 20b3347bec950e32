package experiment

import (
	"fmt"
	"math"
	"slices"
	"time"

	"filewise"
	"filewise/lab/cause"
	"filewise/lab/probe"
	"filewise/lab/verdict"
	"filewise/lab/workload"
)

// cause explains an operation's difference: the difference of the layout to use, or else of the layout that differs most.
// If no layout differs for sure, it returns what limits all layouts. It returns nil if too little was measured.
func (s standing) cause(operation string, r verdict.Result) *cause.Cause {
	analysis, ok := r.Last()
	if !ok {
		return nil
	}
	in := cause.Input{Trials: s.counted(r.Blocks), Operation: operation, Baseline: s.plan.Baseline, Loop: true,
		Layouts: filewise.LayoutNames(s.plan.Layouts)}
	for _, t := range in.Trials {
		for _, m := range t.Measures {
			if operation == "" || m.Operation == operation {
				in.Connections, in.Loop = m.Connections, in.Loop && !m.Paced && m.Connections > 0
			}
		}
	}
	if arm := explained(r, analysis); arm >= 0 {
		in.Layout, in.Effect = r.Arms[arm].Name, r.Shown(analysis, arm).Effect
	}
	c, ok := cause.Explain(in)
	if !ok {
		return nil
	}
	return &c
}

// counted returns the trials of the first blocks (at most the given number) that are done.
func (h history) counted(blocks int) []filewise.Trial {
	var out []filewise.Trial
	for _, t := range h.trials {
		if t.State == filewise.Done && t.Cell.Block >= 1 && t.Cell.Block <= blocks {
			out = append(out, t)
		}
	}
	return out
}

// explained returns the index of the layout whose difference from the baseline is worth explaining: the recommended
// one, or else the one that differs most. It returns −1 if no layout differs for sure.
func explained(r verdict.Result, analysis verdict.Analysis) int {
	best, most := -1, 0.0
	for arm := range r.Arms {
		e := r.Shown(analysis, arm)
		if e.Mark == verdict.MarkBaseline || !e.Known() || e.Lo <= 0 && e.Hi >= 0 {
			continue
		}
		if arm == analysis.Recommended {
			return arm
		}
		if x := math.Abs(e.Effect); x > most {
			best, most = arm, x
		}
	}
	return best
}

// relevance returns how much of the measured time is about the layouts' files. It uses the complete blocks, or else the
// pilots. It returns nil if nothing was read that could show it.
func (s standing) relevance() *cause.Relevance {
	trials := s.telling()
	about, divided := s.plan.differsIn()
	r, ok := cause.Where(trials, divided...)
	if !ok {
		return nil
	}
	var why []string
	remedy := ""
	if !r.Tells() {
		before, cycle := s.beforeCheckpoint(trials)
		for _, x := range []string{s.fitsInMemory(trials), before} {
			if x != "" {
				why = append(why, x)
			}
		}
		remedy = s.plan.toTell(r.Most(), cycle)
	}
	if busy := s.asked(&r).busy(); least(busy) >= probe.BusyLimit {
		why = append(why, fmt.Sprintf("with every layout the CPU was at least %.0f %% busy", least(busy)))
	}
	r.Sentence = r.Words(about, why, remedy)
	return &r
}

// differsIn returns what the layouts differ in, in words, and the parts of the connections' time that this can change.
// Shards are whole databases, so each has its own lock and log.
func (p Plan) differsIn() (about string, divided []string) {
	switch {
	case slices.ContainsFunc(p.Layouts, func(l filewise.Layout) bool { return l.Backup.Files > 0 }):
		return "backup files", []string{cause.SpentData, cause.SpentOther}
	case slices.ContainsFunc(p.Layouts, func(l filewise.Layout) bool { return l.Temp.Files > 0 }):
		return cause.SpentTemp, []string{cause.SpentTemp}
	case slices.ContainsFunc(p.Layouts, func(l filewise.Layout) bool { return l.Kind == filewise.KindShards }):
		return "data files, each with its own lock and log", []string{cause.SpentData, cause.SpentLocks, cause.SpentLog}
	}
	return cause.SpentData, []string{cause.SpentData}
}

// The settings that toTell and lessLog suggest if the log or the CPU takes the time: rows per transaction, and bytes
// per row.
const (
	batched  = 100
	wideRows = 4000
)

// toTell returns the option that would make a run measure more of the files, or "" if the scenario has none. Most names
// what takes most of the time; cycle is the duration of a checkpoint's cycle.
func (p Plan) toTell(most string, cycle time.Duration) string {
	sc, err := workload.Lookup(p.Scenario)
	if err != nil || p.AsPublished != nil || p.Target.Database != "" { // the plan's data are fixed
		return ""
	}
	has := func(flag string) bool { return slices.Contains(sc.Flags, flag) }
	switch {
	case most == cause.SpentLog && has("commit-every") && p.Params.CommitEvery < batched:
		return fmt.Sprintf("--commit-every %d", batched)
	case most == cause.SpentLog && p.Target.Durability == filewise.DurabilityFull:
		return "--durability normal"
	case most == cause.SpentCPU && has("row-bytes") && p.Params.RowBytes < wideRows:
		return fmt.Sprintf("--row-bytes %d", wideRows)
	case most == cause.SpentLocks && p.Params.Connections > 1:
		return fmt.Sprintf("--connections %d", p.Params.Connections/2)
	case has("warehouses"):
		return "more --warehouses"
	case has("rows"):
		return "more --rows"
	case has("window") && cycle > p.Window && p.Window > 0:
		return fmt.Sprintf("--window %v", (cycle + cycle/4).Round(time.Second))
	}
	return ""
}
