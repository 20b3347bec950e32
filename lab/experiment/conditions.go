package experiment

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"filewise"
	"filewise/internal/say"
	"filewise/lab/cause"
	"filewise/lab/probe"
	"filewise/lab/workload"
)

// asked holds what the plan's conditions of meaning are checked with: the trials done, and facts of the host.
type asked struct {
	history
	trials []filewise.Trial // done, of one design; nil before the pilots
	spent  *cause.Relevance // how the trials' connections spent their time. Nil means not known
	host   Host
}

// Host holds what is known about the server's machine before anything is measured.
type Host struct {
	Cores  int   // 0 means not known
	Memory int64 // bytes that the server may use. 0 means not known
}

// finding is the result of checking a condition. Ok is false if the condition does not apply to the plan.
type finding struct {
	filewise.Condition
	ok bool
}

// Foreseen checks the plan's conditions of meaning with what is known before any trial.
func (p Plan) Foreseen(h Host) []filewise.Condition {
	if p.Target.Memory > 0 {
		h.Memory = p.Target.Memory
	}
	return asked{history: p.read(nil), host: h}.conditions()
}

// telling returns the trials that conditions and relevance are read from: the trials of the complete blocks, or else
// the pilots.
func (s standing) telling() []filewise.Trial {
	if trials := s.counted(s.last); len(trials) > 0 {
		return trials
	}
	return s.donePilots()
}

// donePilots returns the pilots of the plan's design that have succeeded.
func (s standing) donePilots() []filewise.Trial {
	return slices.DeleteFunc(slices.Clone(s.trials), func(t filewise.Trial) bool { return t.State != filewise.Done || !t.Cell.Pilot })
}

// conditions checks the plan's conditions of meaning with its trials.
func (s standing) conditions(r *cause.Relevance) []filewise.Condition {
	return s.asked(r).conditions()
}

func (s standing) asked(r *cause.Relevance) asked {
	return asked{history: s.history, trials: s.telling(), spent: r, host: Host{Memory: s.plan.Target.Memory}}
}

func (a asked) conditions() []filewise.Condition {
	sc, err := workload.Lookup(a.plan.Scenario)
	if err != nil || a.plan.Measure == MeasureLifecycle {
		return nil
	}
	by := map[filewise.ConditionName]func() finding{
		filewise.CondReach: a.reach, filewise.CondWrites: a.writes, filewise.CondReads: a.reads, filewise.CondDuration: a.duration,
		filewise.CondGrowth: a.grows, filewise.CondContention: a.contention, filewise.CondHeadroom: a.headroom,
	}
	var out []filewise.Condition
	for _, name := range sc.Conditions() {
		f := by[name]()
		if !f.ok {
			continue
		}
		f.Name, f.OK = name, f.OK && !f.Unknown
		if f.OK {
			f.Mend = ""
		}
		out = append(out, f.Condition)
	}
	return out
}

// found returns the finding of a condition that was checked.
func found(ok bool, threshold, mend, format string, args ...any) finding {
	return finding{filewise.Condition{Measured: fmt.Sprintf(format, args...), Threshold: threshold, OK: ok, Mend: mend}, true}
}

// open returns the finding of a condition that cannot be checked yet.
func open(threshold string) finding {
	return finding{filewise.Condition{Threshold: threshold, Unknown: true}, true}
}

// has reports whether the plan's scenario takes an option, and its data are not fixed by an article or an own database.
func (p Plan) has(flag string) bool {
	sc, err := workload.Lookup(p.Scenario)
	return err == nil && p.AsPublished == nil && p.Target.Database == "" && slices.Contains(sc.Flags, flag)
}

// medians returns the median of a value by layout, over the trials that have the value. Layouts without one are left
// out.
func (a asked) medians(of func(filewise.Layout, filewise.Trial) (float64, bool)) map[string]float64 {
	out := make(map[string]float64)
	for _, l := range a.plan.Layouts {
		var all []float64
		for _, t := range a.trials {
			if t.Cell.Layout != l.Name {
				continue
			}
			if x, ok := of(l, t); ok {
				all = append(all, x)
			}
		}
		if len(all) > 0 {
			out[l.Name] = middle(all)
		}
	}
	return out
}

// reach checks that every file of every layout was used in the typical trial.
func (a asked) reach() finding {
	const threshold = "every file of every layout takes part"
	several := func(l filewise.Layout) bool { return max(l.Data.Files, l.Temp.Files) > 1 && evenlyUsed(l) }
	idle := a.medians(func(l filewise.Layout, t filewise.Trial) (float64, bool) {
		n, ok := untouched(l, t)
		return float64(n), ok && several(l)
	})
	if len(idle) == 0 {
		return finding{open(threshold).Condition, slices.ContainsFunc(a.plan.Layouts, several)}
	}
	var names []string
	for _, l := range a.plan.Layouts {
		if n := idle[l.Name]; n >= 1 {
			names = append(names, fmt.Sprintf("%s: %.0f untouched", l.Name, n))
		}
	}
	if len(names) == 0 {
		return found(true, threshold, "", "all took part")
	}
	return found(false, threshold, a.plan.moreWork(), "%s", strings.Join(names, ", "))
}

// evenlyUsed reports whether a layout's files should have equal loads.
func evenlyUsed(l filewise.Layout) bool {
	return l.AddedLater != filewise.LaterUntouched && l.AddedLater != filewise.LaterNewData
}

// untouched counts the files that a trial did not use: by the operations counted per file, or by the space used that
// the engine reports. The larger count is returned.
func untouched(l filewise.Layout, t filewise.Trial) (n int, ok bool) {
	if s, counted := spreadOf(t); counted && l.Temp.Files == 0 {
		n, ok = s.unused, true
	}
	unused := 0
	for _, f := range t.Final {
		if role := filewise.RoleData; f.Used == nil || f.Role != role && (l.Temp.Files == 0 || f.Role != filewise.RoleTemp) {
			continue
		}
		if ok = true; *f.Used == 0 {
			unused++
		}
	}
	return max(n, unused), ok
}

// moreWork returns the option that makes a trial do more work, or "" if the scenario has none.
func (p Plan) moreWork() string {
	switch {
	case p.AsPublished != nil:
		return "a larger --scale"
	case p.has("rows"):
		return "more --rows"
	case p.Work > 0:
		return "more --work"
	case p.has("window"):
		return "a longer --window"
	}
	return ""
}

// leastPages returns the least size of data pages, in bytes, that a trial must write if the plan is about writing them.
// Rows that were committed need no more than their own size. An operation that only reads has committed none: if
// the log is counted, an operation has committed at most what it wrote.
func leastPages(t filewise.Trial) float64 {
	logs := func(m filewise.Measure) bool { _, known := writtenTo(m, filewise.WrittenLog); return known }
	logged, rows := slices.ContainsFunc(t.Measures, logs), 0.0
	for _, m := range t.Measures {
		if m.Bytes <= 0 {
			return leastWritten
		}
		bytes := m.Bytes
		if logged {
			log, _ := writtenTo(m, filewise.WrittenLog)
			data, _ := writtenTo(m, filewise.WrittenData)
			bytes = min(bytes, log+data)
		}
		rows += bytes
	}
	return min(rows, leastWritten)
}

// writtenTo returns the bytes that a measure and its drain wrote to a destination.
func writtenTo(m filewise.Measure, name string) (sum float64, known bool) {
	sum, known = probe.Find(m.Deltas, filewise.ProbeWritten, name)
	if m.Rest != nil {
		x, ok := m.Rest.Written[name]
		sum, known = sum+x, known || ok
	}
	return sum, known
}

// writes checks that data pages are written while a trial is observed.
func (a asked) writes() finding {
	const threshold = "data pages are written within the observation"
	if a.windowed() {
		return found(false, threshold, "a managed server (--engine "+a.plan.Target.Engine+")",
			"only windows are judged: the server cannot be brought to rest")
	}
	name := filewise.WrittenData
	if slices.ContainsFunc(a.plan.Layouts, func(l filewise.Layout) bool { return l.Temp.Files > 0 }) {
		name = filewise.WrittenTemp
	}
	pages := func(t filewise.Trial) (sum float64, known bool) {
		for _, m := range t.Measures {
			x, ok := writtenTo(m, name)
			sum, known = sum+x, known || ok
		}
		return sum, known
	}
	written := a.medians(func(_ filewise.Layout, t filewise.Trial) (float64, bool) { return pages(t) })
	if len(written) == 0 {
		return open(threshold)
	}
	ok := least(a.medians(func(_ filewise.Layout, t filewise.Trial) (float64, bool) {
		sum, known := pages(t)
		return sum / leastPages(t), known
	})) >= 1
	mend := ""
	if a.plan.Observe == "" && a.plan.AsPublished == nil {
		mend = "--observe rest"
	} else if !ok {
		mend = a.plan.moreWork()
	}
	return found(ok, threshold, mend, "%s a trial", say.Size(int64(least(written))))
}

// windowed reports whether trials are judged by their windows, although the plan demands measuring from rest to rest.
func (a asked) windowed() bool {
	return a.plan.Observe == ObserveRest && a.schedule().OthersWrite > 0 || slices.ContainsFunc(a.trials, func(t filewise.Trial) bool {
		return slices.ContainsFunc(t.Warnings, func(w filewise.Warning) bool { return w.Code == warnWindow })
	})
}

// timesCache is the ratio of data to cache from which data cannot come from the cache.
const timesCache = 4

// reads checks that data are read from storage.
func (a asked) reads() finding {
	threshold := fmt.Sprintf("data at least %d times what may cache them, or read from storage", timesCache)
	if a.plan.cold() && (a.plan.Params.Rescan <= 1 || len(a.trials) == 0) {
		return found(true, threshold, "", "caches are emptied before (--cache %s)", a.plan.Params.Cache)
	}
	read := a.medians(func(_ filewise.Layout, t filewise.Trial) (float64, bool) { return a.readFromStorage(t) })
	data, cache, came := a.data(), a.cache(), least(read)
	if data == 0 || cache == 0 && len(read) == 0 {
		return open(threshold)
	}
	words := say.Size(int64(data)) + " of data"
	if cache > 0 {
		words += ", " + say.Size(int64(cache)) + " of memory"
	}
	if len(read) > 0 {
		words += ", " + say.Size(int64(came)) + " read"
	}
	ok := cache > 0 && data >= timesCache*cache || len(read) > 0 && came >= hardlyRead(data)
	return found(ok, threshold, a.plan.outOfMemory(), "%s", words)
}

// data returns the size of the smallest layout's data, in bytes. 0 means not known.
func (a asked) data() float64 {
	switch {
	case len(a.trials) == 0 && a.plan.Target.Database != "": // it has another size than the scenario's
		return 0
	case len(a.trials) == 0:
		return float64(a.plan.Layouts[0].Data.Bytes)
	}
	return least(a.medians(func(_ filewise.Layout, t filewise.Trial) (float64, bool) { x := dataBytes(t); return x, x > 0 }))
}

// cache returns how much of the data the server may keep in memory, in bytes. 0 means not known.
func (a asked) cache() float64 {
	if len(a.trials) == 0 {
		return float64(a.host.Memory)
	}
	return least(a.medians(func(_ filewise.Layout, t filewise.Trial) (float64, bool) { return a.memoryOf(t) }))
}

// least returns the smallest value, or 0 if there is none.
func least(of map[string]float64) float64 {
	out := math.Inf(1)
	for _, x := range of {
		out = min(out, x)
	}
	if math.IsInf(out, 1) {
		return 0
	}
	return out
}

// outOfMemory returns the option that makes data not fit in memory, or "" if there is none.
func (p Plan) outOfMemory() string {
	switch {
	case p.has("cache") && p.Target.Mode != filewise.External:
		return "--cache storage-cold"
	case p.Target.Mode == filewise.Managed && p.Target.Memory == 0:
		return "--memory of a quarter of the data"
	case p.has("warehouses"):
		return "more --warehouses"
	case p.has("rows"):
		return "more --rows"
	}
	return ""
}
