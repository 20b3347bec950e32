package cause

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"filewise"
	"filewise/lab/probe"
	"filewise/lab/verdict/stats"
)

// changes returns the changes that explain something, and the changes of I/O and context switches.
func changes(in Input, pairs []pair) []Change {
	slow := in.slower(pairs)
	whole := quantity{unit: "s", of: func(m filewise.Measure) (float64, bool) { return in.time(m) * m.Work, true }}.change(pairs, slow)
	locks, others := in.followed(pairs, slow, whole)
	var out []Change
	for _, q := range quantities(pairs) {
		c := q.change(pairs, slow)
		if in.Loop && whole.Fall != 0 && c.Unit == "s" {
			c.Share = c.Fall / whole.Fall
			if q.forHolders() {
				c.Share *= locks
			} else {
				c.Share *= others
			}
		}
		moved := c.From != 0 && math.Abs(c.To/c.From-1) >= changedIO || c.From == 0 && c.To != 0
		switch {
		case !c.sure(), (c.From-c.To)*c.Fall < 0: // a few blocks that differ much outweigh the others
		case c.Unit != "s" && moved, c.Share >= tells, c.Share <= -tells, !in.Loop && c.Kind == KindWait && moved:
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b Change) int { return cmp.Compare(b.Share, a.Share) })
	return withOffsets(out)
}

// followed returns factors for the shares of waits for locks, and of all other time. A connection that waits for a lock
// waits for the work of the lock's holder. If the other time changed in the same proportion as the whole, waits for
// locks only followed it. Their share then belongs to what the holders waited for. With n connections behind one lock
// both change in one proportion, T = n × S (the asymptote of a closed queue, Lazowska et al., Quantitative System
// Performance, 1984, ch. 5). If locks themselves are the cause, S does not change.
func (in Input) followed(pairs []pair, slow []float64, whole Change) (locks, others float64) {
	held := quantity{unit: "s", of: func(m filewise.Measure) (float64, bool) {
		return in.time(m)*m.Work - sum(m.Deltas, func(d filewise.Delta) bool { return wait(d) && spentOn[d.Class] == SpentLocks }), true
	}}.change(pairs, slow)
	waited := whole.Fall - held.Fall
	if surely := held.surely() / whole.relative(); !(surely >= explains) || waited*held.Fall <= 0 {
		return 1, 1
	}
	follows := min(held.relative()/whole.relative(), 1)
	return 1 - follows, 1 + follows*waited/held.Fall
}

// relative returns the change as a share of the larger amount.
func (c Change) relative() float64 { return c.Fall / max(c.From, c.To) }

// surely returns the smallest change that the interval allows, as a share of the larger amount. 0 means there may be
// none.
func (c Change) surely() float64 {
	if c.Fall > 0 {
		return max(c.Low, 0) / max(c.From, c.To)
	}
	return min(c.High, 0) / max(c.From, c.To)
}

// forHolders reports whether the quantity is a wait for something that another connection holds.
func (q quantity) forHolders() bool {
	return q.kind == KindWait && spentOn[q.class] == SpentLocks
}

// withOffsets removes the changes that go against the gain. It keeps them if one cause is more than the whole gain.
// Then one wait has replaced another, and both are reported, before the I/O.
func withOffsets(all []Change) []Change {
	if len(all) > 0 && all[0].Share > overlapping {
		slices.SortStableFunc(all, func(a, b Change) int { return cmp.Compare(rank(a), rank(b)) })
		return all
	}
	return slices.DeleteFunc(all, func(c Change) bool { return c.Share < 0 })
}

// rank returns the place of a change in the report: causes, then changes against the gain, then amounts.
func rank(c Change) int {
	switch {
	case c.Share > 0:
		return 0
	case c.Share < 0:
		return 1
	}
	return 2
}

// quantity is an amount that can be read from a measure. Of returns the amount for the window's work.
type quantity struct {
	kind  string
	class filewise.WaitClass
	event string
	unit  string
	of    func(filewise.Measure) (float64, bool)
}

// quantities returns the quantities that both measures of every pair have.
func quantities(pairs []pair) []quantity {
	var classes []filewise.WaitClass
	for _, p := range pairs {
		for _, d := range slices.Concat(p.from.Deltas, p.to.Deltas) {
			if d.Probe == filewise.ProbeWaits && d.Unit == "s" && !slices.Contains(classes, d.Class) {
				classes = append(classes, d.Class)
			}
		}
	}
	if slices.ContainsFunc(pairs, func(p pair) bool { return rested(p.from) && rested(p.to) }) && !slices.Contains(classes, drainClass) {
		classes = append(classes, drainClass)
	}
	slices.Sort(classes)
	var out []quantity
	for _, class := range classes {
		out = append(out, quantity{kind: KindWait, class: class, unit: "s", of: func(m filewise.Measure) (float64, bool) {
			waited := sum(m.Deltas, func(d filewise.Delta) bool { return wait(d) && d.Class == class })
			if class == drainClass {
				waited += drainedData(m)
			}
			return waited, true
		}})
	}
	out = append(out, quantity{kind: KindCPU, event: "CPU", unit: "s", of: processors},
		quantity{kind: KindProcessorWait, event: "wait for a processor", unit: "s", of: queued})
	for _, io := range []struct{ event, unit, suffix string }{
		{"bytes read from the storage", "B", " bytes read"}, {"bytes written to the storage", "B", " bytes written"},
		{"flushes of the storage", "requests", " flushes"}, {"reads of the storage", "requests", " reads"},
		{"writes to the storage", "requests", " writes"},
	} {
		out = append(out, quantity{kind: KindIO, event: io.event, unit: io.unit, of: func(m filewise.Measure) (float64, bool) {
			in, ok := device(m.Deltas, io.suffix)
			if m.Rest != nil {
				behind, _ := device(m.Rest.Storage, io.suffix)
				in += behind * perWindow(m)
			}
			return in, ok
		}})
	}
	out = append(out, quantity{kind: KindSwitches, event: filewise.ContextSwitches, unit: "switches",
		of: func(m filewise.Measure) (float64, bool) { return probe.Find(m.Deltas, "cpu", filewise.ContextSwitches) }})
	return slices.DeleteFunc(out, func(q quantity) bool {
		return slices.ContainsFunc(pairs, func(p pair) bool {
			_, ok := q.of(p.from)
			_, also := q.of(p.to)
			return !ok || !also
		})
	})
}

// drainClass is the wait class of a drain, in which all connections wait until pages are written.
const (
	drainClass = filewise.WaitCheckpoint
	drainEvent = "pages written after the work"
)

// rested reports whether a measure's drain is part of what is judged.
func rested(m filewise.Measure) bool { return m.Rest != nil && !m.Paced && m.Rest.Work > 0 }

// perWindow returns the factor that converts an amount for all work from rest to rest into the amount for the window's
// work. It returns 0 if the work from rest to rest is not known.
func perWindow(m filewise.Measure) float64 {
	if m.Rest == nil || m.Rest.Work <= 0 {
		return 0
	}
	return m.Work / m.Rest.Work
}

// drainedData returns how long connections waited in a drain for data files to be written, in seconds, for the window's
// work.
func drainedData(m filewise.Measure) float64 {
	if !rested(m) {
		return 0
	}
	part, _ := m.Rest.DataPart()
	return part * max(float64(m.Connections)*(m.Sync-m.Rest.Empty).Seconds(), 0) * perWindow(m)
}

func wait(d filewise.Delta) bool {
	return d.Probe == filewise.ProbeWaits && d.Unit == "s" && !math.IsNaN(d.Value)
}

// processors returns the CPU time of the server and of Filewise, in seconds. With an embedded engine both are one
// process.
func processors(m filewise.Measure) (float64, bool) {
	found := false
	total := sum(m.Deltas, func(d filewise.Delta) bool {
		is := (d.Probe == filewise.ProbeServer || d.Probe == "process") && d.Unit == "s" && (d.Name == "user" || d.Name == "system") &&
			!math.IsNaN(d.Value)
		found = found || is
		return is
	})
	return total, found
}

// queued returns how long the server and Filewise waited for a core, in seconds.
func queued(m filewise.Measure) (total float64, found bool) {
	for _, of := range []string{filewise.ProbeServer, "process"} {
		s, ok := probe.Find(m.Deltas, of, filewise.ProcessorWait)
		total, found = total+s, found || ok
	}
	return total, found
}

// device returns a counter of the busiest device. Counters are not summed, because the disks below a composed device
// count the same requests again.
func device(deltas []filewise.Delta, suffix string) (float64, bool) {
	most, found := 0.0, false
	for _, d := range deltas {
		if n := len(d.Name) - len(suffix); d.Probe == "disk" && n > 0 && d.Name[n:] == suffix {
			most, found = max(most, d.Value), true
		}
	}
	return most, found
}

// slower returns, for each block, the time per unit of work of the slower layout, in seconds.
func (in Input) slower(pairs []pair) []float64 {
	var from, to []float64
	for _, p := range pairs {
		from, to = append(from, in.time(p.from)), append(to, in.time(p.to))
	}
	if median(from) < median(to) {
		return to
	}
	return from
}

// change compares the quantity per unit of work within blocks. In a block in which everything took longer, waits are
// longer too. So changes of time are averaged as shares of the slower layout's time, and reported at its median, like a
// verdict that compares ratios.
func (q quantity) change(pairs []pair, slow []float64) Change {
	if q.unit != "s" { // an amount, which does not depend on time
		slow = slices.Repeat([]float64{1}, len(pairs))
	}
	var from, to, share []float64
	for i, p := range pairs {
		a, _ := q.of(p.from)
		b, _ := q.of(p.to)
		a, b = a/p.from.Work, b/p.to.Work
		from, to, share = append(from, a), append(to, b), append(share, (a-b)/slow[i])
	}
	c := Change{Kind: q.kind, Class: q.class, Event: q.event, Unit: q.unit, From: median(from), To: median(to)}
	n, typical := float64(len(share)), median(slow)
	half := stats.TQuantile(0.975, n-1) * math.Sqrt(stat.Variance(share, nil)/n) * typical
	c.Fall = stat.Mean(share, nil) * typical
	c.Low, c.High = c.Fall-half, c.Fall+half
	if q.kind == KindWait {
		c.Event = moved(pairs, q.class, c.Fall >= 0)
	}
	return c
}

// moved returns the event of a class that changed most in the given direction.
func moved(pairs []pair, class filewise.WaitClass, fell bool) string {
	by := make(map[string]float64)
	for _, p := range pairs {
		if x := drainedData(p.from)/p.from.Work - drainedData(p.to)/p.to.Work; class == drainClass && x != 0 {
			by[drainEvent] += x
		}
		for _, d := range p.from.Deltas {
			if wait(d) && d.Class == class {
				by[d.Name] += d.Value / p.from.Work
			}
		}
		for _, d := range p.to.Deltas {
			if wait(d) && d.Class == class {
				by[d.Name] -= d.Value / p.to.Work
			}
		}
	}
	best, most := "", math.Inf(-1)
	for name, x := range by {
		if !fell {
			x = -x
		}
		if x > most || x == most && name < best {
			best, most = name, x
		}
	}
	return best
}

func sum(deltas []filewise.Delta, is func(filewise.Delta) bool) float64 {
	total := 0.0
	for _, d := range deltas {
		if is(d) {
			total += d.Value
		}
	}
	return total
}

func median(x []float64) float64 {
	sorted := slices.Clone(x)
	slices.Sort(sorted)
	return stats.Quantile(sorted, 0.5)
}
