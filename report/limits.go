package report

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"filewise"
	"filewise/cause"
	"filewise/probe"
)

// meter is how much of something was in use on one layout.
type meter struct {
	Layout  string
	Percent float64 // median over the trials
	Range   string  // over the trials
	Over    bool    // beyond what leaves a verdict about storage its meaning
}

// meters are one resource by layout.
type meters struct {
	Name    string // "processors busy"
	Limit   float64
	Layouts []meter
}

// Meters are the processors and the storage by how near they were to their limits,
// over all families of a trial; none where nothing was read.
func (v view) Meters() []meters {
	by := map[string]map[string][]float64{} // by resource and layout
	trials := v.Data.Trials
	if v.whole != nil {
		trials = v.whole.Trials
	}
	for _, t := range trials {
		if t.Cell.Pilot || t.State != filewise.Done {
			continue
		}
		for name, x := range usedIn(t) {
			if by[name] == nil {
				by[name] = map[string][]float64{}
			}
			by[name][t.Cell.Layout] = append(by[name][t.Cell.Layout], x)
		}
	}
	var out []meters
	for name, layouts := range by {
		m := meters{Name: name, Limit: cause.NearLimit}
		if name == processors {
			m.Limit = probe.BusyLimit
		}
		for _, r := range v.Rows {
			xs := layouts[r.Name]
			if len(xs) == 0 {
				continue
			}
			x := median(xs)
			m.Layouts = append(m.Layouts, meter{r.Name, x, fmt.Sprintf("%.0f–%.0f %%", slices.Min(xs), slices.Max(xs)), x >= m.Limit})
		}
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b meters) int {
		return cmp.Or(-cmp.Compare(btoi(a.Name == processors), btoi(b.Name == processors)), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// usedIn are a trial's resources: the mean over its measures, by their length.
func usedIn(t filewise.Trial) map[string]float64 {
	sums, lengths := map[string]float64{}, map[string]float64{}
	for _, m := range t.Measures {
		length := (m.Window[1] - m.Window[0]).Seconds()
		for _, d := range m.Deltas {
			if name := resource(d); name != "" && known(d.Value) && length > 0 {
				sums[name] += d.Value * length
				lengths[name] += length
			}
		}
	}
	for name := range sums {
		sums[name] /= lengths[name]
	}
	return sums
}

const processors = "processors busy"

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// resource is of what a share in percent is; empty: of nothing that has a limit. A
// device that always has a request may still take more at a time: where fio found
// no limit, its use says least.
func resource(d filewise.Delta) string {
	if d.Unit != "%" {
		return ""
	}
	switch {
	case d.Probe == "cpu" && d.Name == probe.BusyShare:
		return processors
	case d.Probe == filewise.ProbeStorage && strings.HasSuffix(d.Name, filewise.StorageShare):
		return "storage of volume " + strings.TrimSuffix(d.Name, filewise.StorageShare) + ", of what fio found it to give"
	case d.Probe == "disk" && strings.HasSuffix(d.Name, probe.Utilisation):
		return "device " + strings.TrimSuffix(d.Name, probe.Utilisation) + ", time with a request"
	}
	return ""
}

// StorageFacts are what the storage was found to give.
func (v view) StorageFacts() []filewise.Fact {
	return slices.DeleteFunc(slices.Clone(v.Machine), func(f filewise.Fact) bool { return !strings.HasPrefix(f.Name, "storage limit") })
}

// Drawing are bars of what was used, on a scale from nothing to all.
func (m meters) Drawing() template.HTML {
	const pitch, bar = 38, 12
	most := 100.0
	for _, l := range m.Layouts {
		most = max(most, l.Percent)
	}
	d := drawing{height: float64(pitch * len(m.Layouts))}
	for i, l := range m.Layouts {
		y := float64(i*pitch) + 18
		d.textAt("name", "start", 0, y-5, l.Layout)
		d.textAt("axis", "end", 100, y-5, l.Text()+" ("+l.Range+")")
		d.rect("trough", 0, y, 10000/most, bar, "")
		class := "used"
		if l.Over {
			class = "used over"
		}
		d.rect(class, 0, y, 100*l.Percent/most, bar, l.Layout+": "+l.Text())
		d.line("limit", 100*m.Limit/most, y-2, 100*m.Limit/most, y+bar+2, fmt.Sprintf("%g %%", m.Limit))
	}
	return d.html(m.Name + " by layout; the numbers stand at the bars.")
}

// Text is the use in percent.
func (m meter) Text() string { return fmt.Sprintf("%.0f %%", m.Percent) }

// ProcessorLimit is where the processors decide.
func (v view) ProcessorLimit() string { return fmt.Sprintf("%d %%", probe.BusyLimit) }
