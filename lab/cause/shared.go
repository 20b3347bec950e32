package cause

import (
	"cmp"
	"slices"
	"strings"

	"filewise"
	"filewise/lab/probe"
)

// shared returns what limits all layouts: the CPU, the storage, or a wait that takes much of the connections' time in
// each layout.
func shared(in Input) (Cause, bool) {
	c := Cause{}
	var all []filewise.Measure
	for _, l := range in.Layouts {
		all = append(all, in.measures(l)...)
	}
	if len(all) < leastPairs || len(all[0].Deltas) == 0 {
		return c, false
	}
	c.Near = uses(all)
	c.Changes = in.commonWaits()
	c.Sentences = in.sharedWords(c)
	return c, true
}

// commonWaits returns the classes of waits that take much of the connections' time in every layout. Share is the
// smallest share in any layout.
func (in Input) commonWaits() []Change {
	least := make(map[filewise.WaitClass]float64)
	has := make(map[filewise.WaitClass]int)
	var out []Change
	for _, layout := range in.Layouts {
		for class, x := range in.waitShares(layout) {
			if has[class]++; has[class] == 1 || x < least[class] {
				least[class] = x
			}
		}
	}
	for class, x := range least {
		if has[class] == len(in.Layouts) && x >= dominates {
			out = append(out, Change{Kind: KindWait, Class: class, Event: in.mostOf(class), Unit: "s", Share: x})
		}
	}
	slices.SortFunc(out, func(a, b Change) int { return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(a.Class, b.Class)) })
	return out
}

// waitShares returns the median of each wait class's share of the connections' time.
func (in Input) waitShares(layout string) map[filewise.WaitClass]float64 {
	shares := make(map[filewise.WaitClass][]float64)
	measures := in.measures(layout)
	for i, m := range measures {
		for _, d := range m.Deltas {
			if !wait(d) {
				continue
			}
			if shares[d.Class] == nil {
				shares[d.Class] = make([]float64, len(measures))
			}
			shares[d.Class][i] += d.Value / (in.time(m) * m.Work)
		}
	}
	out := make(map[filewise.WaitClass]float64)
	for class, x := range shares {
		out[class] = median(x)
	}
	return out
}

// mostOf returns the event of a class with the most time over all layouts.
func (in Input) mostOf(class filewise.WaitClass) string {
	by := make(map[string]float64)
	for _, layout := range in.Layouts {
		for _, m := range in.measures(layout) {
			for _, d := range m.Deltas {
				if wait(d) && d.Class == class {
					by[d.Name] += d.Value
				}
			}
		}
	}
	best := ""
	for name, x := range by {
		if best == "" || x > by[best] || x == by[best] && name < best {
			best = name
		}
	}
	return best
}

// uses returns the use of each resource in percent of its limit, nearest first. A device that is always busy can still
// serve more requests at a time. So if the storage's own limit is known, it is the better measure.
func uses(measures []filewise.Measure) []Use {
	var out []Use
	known := make(map[string][]float64)
	kinds := make(map[string]string)
	for _, m := range measures {
		for _, d := range m.Deltas {
			if d.Unit != "%" {
				continue
			}
			kind, name := useOf(d)
			if kind != "" {
				kinds[name] = kind
				known[name] = append(known[name], d.Value)
			}
		}
	}
	for name, values := range known {
		out = append(out, Use{Kind: kinds[name], Name: name, Percent: median(values)})
	}
	slices.SortFunc(out, func(a, b Use) int { return cmp.Or(cmp.Compare(b.Percent, a.Percent), cmp.Compare(a.Name, b.Name)) })
	return out
}

func useOf(d filewise.Delta) (kind, name string) {
	switch {
	case d.Probe == "cpu" && d.Name == probe.BusyShare:
		return KindCPU, "the processors"
	case d.Probe == "cpu" && d.Name == probe.OwnShare:
		return KindOwnCPU, "the processors by the trial itself"
	case d.Probe == filewise.ProbeStorage:
		if volume, ok := strings.CutSuffix(d.Name, filewise.StorageShare); ok {
			return KindStorage, "the storage of volume " + volume
		}
	case d.Probe == "disk":
		if device, ok := strings.CutSuffix(d.Name, probe.Utilisation); ok {
			return KindDevice, "device " + device
		}
	}
	return "", ""
}

func processorsBusy(all []Use) (Use, bool) {
	return nearest(all, KindCPU)
}

// boundByCPU reports whether the CPU limits the trials. If the CPU is mostly busy with other work, it returns false.
// That work depends on the moment, not on the layouts, so the trials' own waits are reported instead.
func boundByCPU(all []Use) (Use, bool) {
	cpu, ok := processorsBusy(all)
	if mine, known := nearest(all, KindOwnCPU); known && mine.Percent < cpu.Percent/2 {
		return cpu, false
	}
	return cpu, ok && cpu.Percent > probe.BusyLimit
}

// boundEverywhere returns the CPU use of the layout that uses it least. It returns false unless the CPU limits every
// layout.
func (in Input) boundEverywhere() (lowest Use, bound bool) {
	for _, l := range in.Layouts {
		measures := in.measures(l)
		if len(measures) == 0 {
			continue
		}
		cpu, ok := boundByCPU(uses(measures))
		if !ok {
			return cpu, false
		}
		if !bound || cpu.Percent < lowest.Percent {
			lowest = cpu
		}
		bound = true
	}
	return lowest, bound
}

// storage returns the volume nearest to its limit. It returns false if no limits were measured with fio.
func storage(all []Use) (Use, bool) {
	return nearest(all, KindStorage)
}

// nearest returns the use of a kind that is nearest to its limit.
func nearest(all []Use, kind string) (Use, bool) {
	i := slices.IndexFunc(all, func(u Use) bool { return u.Kind == kind })
	if i < 0 {
		return Use{}, false
	}
	return all[i], true
}
