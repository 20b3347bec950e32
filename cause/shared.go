package cause

import (
	"cmp"
	"slices"

	"filewise"
)

// shared names what limits all layouts alike: the processors, the storage, or a
// wait that takes much of the connections' time in each.
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

// commonWaits are the classes of waits that take much of the connections' time in
// every layout: Share is that of the layout in which it is least.
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

// waitShares are the medians of each class's share of the connections' time.
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

// mostOf is the event of a class with the most time over all layouts.
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
