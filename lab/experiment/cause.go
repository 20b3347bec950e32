package experiment

import (
	"fmt"
	"math"
	"slices"
	"time"

	"filewise"
	"filewise/lab/cause"
	"filewise/lab/verdict"
	"filewise/lab/workload"
)

// cause returns what changed with a family's difference: the difference of the layout to use, or of the one that
// differs most. If no layout differs for sure, it returns what limits all of them. Nil means too little was measured.
func (s standing) cause(family string, r verdict.Result) *cause.Cause {
	look, ok := r.Last()
	if !ok {
		return nil
	}
	in := cause.Input{Trials: s.counted(r.Blocks), Family: family, Baseline: s.plan.Baseline, Loop: true,
		Layouts: filewise.LayoutNames(s.plan.Layouts)}
	for _, t := range in.Trials {
		for _, m := range t.Measures {
			if family == "" || m.Family == family {
				in.Connections, in.Loop = m.Connections, in.Loop && !m.Paced && m.Connections > 0
			}
		}
	}
	if arm := explained(r, look); arm >= 0 {
		in.Layout, in.Effect = r.Arms[arm].Name, r.Shown(look, arm).Effect
	}
	c, ok := cause.Explain(in)
	if !ok {
		return nil
	}
	return &c
}

// counted are the trials of the complete blocks.
func (h history) counted(blocks int) []filewise.Trial {
	var out []filewise.Trial
	for _, t := range h.trials {
		if t.State == filewise.Done && t.Cell.Block >= 1 && t.Cell.Block <= blocks {
			out = append(out, t)
		}
	}
	return out
}

// explained is the arm whose difference against the baseline is worth explaining. −1 means none differs for sure.
func explained(r verdict.Result, look verdict.Look) int {
	best, most := -1, 0.0
	for arm := range r.Arms {
		e := r.Shown(look, arm)
		if e.Mark == verdict.MarkBaseline || !e.Known() || e.Lo <= 0 && e.Hi >= 0 {
			continue
		}
		if arm == look.Recommended {
			return arm
		}
		if x := math.Abs(e.Effect); x > most {
			best, most = arm, x
		}
	}
	return best
}

// relevance returns the share of what was measured in complete blocks, or else by the pilots, that is about the
// layouts' files. Nil means that nothing was read that could show it.
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
	r.Sentence = r.Words(about, why, remedy)
	return &r
}

// differsIn names the layouts' difference, and the parts of the connections' time that it can change. A database file
// that is one of several whole ones has a lock and a log of its own.
func (p Plan) differsIn() (about string, divided []string) {
	switch {
	case slices.ContainsFunc(p.Layouts, func(l filewise.Layout) bool { return l.Backup.Files > 0 }):
		return "backup files", []string{cause.SpentData, cause.SpentOther}
	case slices.ContainsFunc(p.Layouts, func(l filewise.Layout) bool { return l.Temp.Files > 0 }):
		return cause.SpentTemp, []string{cause.SpentTemp}
	case slices.ContainsFunc(p.Layouts, func(l filewise.Layout) bool { return l.Kind == filewise.KindShards }):
		return "data files, each with a lock and a log of its own", []string{cause.SpentData, cause.SpentLocks, cause.SpentLog}
	}
	return cause.SpentData, []string{cause.SpentData}
}

// If the log or the processors take the time: rows of a transaction, and bytes of a row, that are enough.
const (
	batched  = 100
	wideRows = 4000
)

// toTell returns the option by which a run would measure more of files, by what takes the time, as far as the
// scenario has one; cycle is the duration of a checkpoint's cycle.
func (p Plan) toTell(most string, cycle time.Duration) string {
	sc, err := workload.Lookup(p.Scenario)
	if err != nil || p.AsPublished != nil || p.Target.Database != "" { // whose data are given
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
