package experiment

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"filewise"
	"filewise/internal/say"
	"filewise/lab/cause"
	"filewise/lab/probe"
	"filewise/lab/workload"
)

// duration checks that operations that are timed one by one last long enough.
func (a asked) duration() finding {
	const threshold = "a backup, dump or restore takes 2 s, a query 20 ms (warm: all its executions in a trial)"
	var short []string
	timed := 0
	for _, operation := range a.plan.Operations() {
		took, unit, ok := a.typicalTime(operation)
		least := workload.LeastOf(unit)
		if !ok || least == 0 {
			continue
		}
		if timed++; took < least {
			short = append(short, fmt.Sprintf("%s %s", operation, say.Seconds(took)))
		}
	}
	switch {
	case timed == 0:
		return open(threshold)
	case len(short) == 0:
		return found(true, threshold, "", "all last as long")
	}
	return found(false, threshold, a.plan.lengthen(a.shortfall()), "too short to resolve: %s", strings.Join(short, ", "))
}

// shortfall returns the factor by which the shortest operation would have to be longer, of those that another design
// lengthens. It is at least 1.
func (a asked) shortfall() float64 {
	more := 1.0
	for _, operation := range a.plan.Operations() {
		if took, unit, ok := a.typicalTime(operation); ok && (a.plan.warm() || workload.Lengthens(operation)) {
			more = max(more, workload.LeastOf(unit)/max(took, 1e-9))
		}
	}
	return more
}

// typicalTime returns the median time of one operation of an operation, in seconds, and its unit. If queries are repeated
// from warm caches, the time covers all operations in a trial.
func (a asked) typicalTime(operation string) (seconds float64, unit string, ok bool) {
	var took []float64
	for _, t := range a.trials {
		for _, m := range t.Measures {
			if m.Operation != operation || m.Work <= 0 {
				continue
			}
			x := (m.Window[1] - m.Window[0]).Seconds()
			if !a.plan.warm() {
				x *= float64(max(m.Connections, 1)) / m.Work
			}
			took, unit = append(took, x), m.Unit
		}
	}
	if len(took) == 0 {
		return 0, "", false
	}
	return middle(took), unit, true
}

// warm reports whether queries are repeated from warm caches.
func (p Plan) warm() bool {
	return p.Params.Repeat > 0 && (p.Params.Cache == "" || p.Params.Cache == workload.CacheWarm)
}

// cold reports whether caches are emptied before each operation.
func (p Plan) cold() bool { return p.Params.Cache != "" && p.Params.Cache != workload.CacheWarm }

// timesGrown is the fewest times that files must grow in a trial if their growth is measured.
const timesGrown = 10

// grows checks that growing files grow often enough in the typical trial.
func (a asked) grows() finding {
	threshold := fmt.Sprintf("growing files grow %d times a trial", timesGrown)
	n := a.steps()
	if math.IsNaN(n) {
		return finding{open(threshold).Condition, slices.ContainsFunc(a.plan.Layouts, growing)}
	}
	return found(n >= timesGrown, threshold, a.plan.moreWork(), "%.0f times", n)
}

func growing(l filewise.Layout) bool {
	return l.Data.Allocation == filewise.Growing && l.Data.Growth > 0
}

// steps counts how often the files of a growing layout grew in its typical trial, and returns the smallest count of all
// growing layouts. It returns NaN if there is no such trial.
func (a asked) steps() float64 {
	steps := a.medians(func(l filewise.Layout, t filewise.Trial) (float64, bool) {
		var grew int64
		for _, f := range t.Final {
			i := slices.IndexFunc(t.Files, func(g filewise.File) bool { return g.Path == f.Path })
			if i >= 0 && f.Role == filewise.RoleData {
				grew += f.Bytes - t.Files[i].Bytes
			}
		}
		return float64(grew) / float64(max(l.Data.Growth, 1)), growing(l) && len(t.Final) > 0
	})
	if len(steps) == 0 {
		return math.NaN()
	}
	return least(steps)
}

// timesCores is the number of connections per core from which connections contend for space.
const timesCores = 2

// contention checks that there are enough connections for each core to contend.
func (a asked) contention() finding {
	threshold := fmt.Sprintf("at least %d connections a core", timesCores)
	cores, n := a.cores(), a.plan.Params.Connections
	if cores == 0 {
		return open(threshold)
	}
	return found(n >= timesCores*cores, threshold, fmt.Sprintf("--connections %d", timesCores*cores), "%s, %s",
		say.Count(n, "connection"), say.Count(cores, "core"))
}

// cores returns the number of cores of the server, as planned, counted in the trials or known of the host. 0 means not
// known.
func (a asked) cores() int {
	if n := a.plan.Target.Cores; n > 0 {
		return n
	}
	for _, t := range a.trials {
		for _, m := range t.Measures {
			total, ok := probe.ProcessorTime(m.Deltas)
			if took := (m.Window[1] - m.Window[0]).Seconds(); ok && took > 0 && m.Unit != filewise.UnitTimes {
				return max(int(math.Round(total/took)), 1)
			}
		}
	}
	return a.host.Cores
}

// mostLog is the share of the connections' time from which the log limits the work.
const mostLog = 0.5

// headroom checks that neither the CPU nor the log limits the work. The layout that uses the CPU least counts: one that
// is limited by the CPU alone is as fast as files can make it.
func (a asked) headroom() finding {
	threshold := fmt.Sprintf("CPU under %d %%, log under %.0f %% of the time", probe.BusyLimit, 100*mostLog)
	busy := a.busy()
	others := a.medians(func(_ filewise.Layout, t filewise.Trial) (most float64, known bool) {
		for _, m := range t.Measures {
			x, ok := probe.Others(m.Deltas)
			most, known = max(most, x), known || ok
		}
		return most, known
	})
	log, counts := a.logs()
	if len(busy) == 0 && !counts {
		return open(threshold)
	}
	var words []string
	mend := ""
	if len(busy) > 0 {
		words = append(words, "CPU "+span(busy))
		if most := slices.Max(append(slices.Collect(maps.Values(others)), 0)); most > probe.OthersLimit {
			words[0] += fmt.Sprintf(" (others' %.0f %%)", most)
			mend = "no other work on this machine"
		}
	}
	if counts {
		words = append(words, fmt.Sprintf("log %.0f %%", 100*log))
	}
	if log >= mostLog {
		mend = a.plan.lessLog()
	}
	return found(least(busy) < probe.BusyLimit && log < mostLog, threshold, mend, "%s", strings.Join(words, ", "))
}

// busy returns the CPU use by layout, in percent.
func (a asked) busy() map[string]float64 {
	return a.medians(func(_ filewise.Layout, t filewise.Trial) (most float64, known bool) {
		for _, m := range t.Measures {
			for _, share := range []func(filewise.Measure) (float64, bool){a.machineBusy, a.serverBusy} {
				if x, ok := share(m); ok {
					most, known = max(most, x), true
				}
			}
		}
		return most, known
	})
}

// span returns the range of percentages by layout, in words.
func span(of map[string]float64) string {
	low, high := least(of), slices.Max(slices.Collect(maps.Values(of)))
	if math.Round(low) == math.Round(high) {
		return fmt.Sprintf("%.0f %%", high)
	}
	return fmt.Sprintf("%.0f to %.0f %% by layout", low, high)
}

// machineBusy returns the CPU use of the machine, in percent.
func (asked) machineBusy(m filewise.Measure) (float64, bool) {
	return probe.Find(m.Deltas, "cpu", probe.BusyShare)
}

// serverBusy returns the CPU use of the server, in percent of the cores it is bound to.
func (a asked) serverBusy(m filewise.Measure) (float64, bool) {
	user, ok := probe.Find(m.Deltas, filewise.ProbeServer, "user")
	system, also := probe.Find(m.Deltas, filewise.ProbeServer, "system")
	took := (m.Window[1] - m.Window[0]).Seconds()
	n := a.plan.Target.Cores
	return 100 * (user + system) / (float64(n) * took), ok && also && n > 0 && took > 0
}

// logs returns the log's share of the connections' time, from 0 to 1. It returns false if that is not known, or each file
// has its own log, which is part of the layout.
func (a asked) logs() (share float64, counts bool) {
	if _, divided := a.plan.differsIn(); a.spent == nil || slices.Contains(divided, cause.SpentLog) {
		return 0, false
	}
	for _, s := range a.spent.Shares {
		if s.On == cause.SpentLog {
			share = s.Part
		}
	}
	return share, true
}

// lessLog returns the option that reduces the log's share of the time, or "" if there is none.
func (p Plan) lessLog() string {
	switch {
	case p.has("commit-every") && p.Params.CommitEvery < batched:
		return fmt.Sprintf("--commit-every %d", batched)
	case p.Target.Durability == filewise.DurabilityFull && p.AsPublished == nil:
		return "--durability normal"
	}
	return ""
}

// lengthen returns the option that makes operations last that many times as long, or "" if there is none.
func (p Plan) lengthen(more float64) string {
	switch {
	case more <= 1:
		return ""
	case p.AsPublished != nil:
		return fmt.Sprintf("--scale %.2g or more", min(more*p.AsPublished.Scale, 1))
	case p.has("repeat") && p.warm():
		return fmt.Sprintf("--repeat %.0f or more", math.Ceil(more*float64(p.Params.Repeat)))
	case !p.has("rows"):
		return ""
	}
	rows := more * float64(max(p.Params.Rows, 1))
	step := math.Pow(10, max(math.Floor(math.Log10(rows))-1, 0)) // two significant figures are enough
	return fmt.Sprintf("--rows %.0f or more", math.Ceil(rows/step)*step)
}
