package report

import (
	"cmp"
	"slices"

	"filewise"
)

// counterRow is how far one counter moved in the measured window, by layout.
type counterRow struct {
	Probe, Name, Unit string
	Values            []string // median over the layout's trials, in the order of the rows
}

// Counters are the probes' counters, the median over the trials of each layout.
// Waits and the I/O of single files are not among them.
func (v view) Counters() []counterRow {
	type key struct{ probe, name, unit string }
	seen := make(map[key]map[string][]float64)
	var keys []key
	for _, t := range v.Trials {
		if t.Cell.Pilot || t.State != filewise.Done {
			continue
		}
		for _, d := range t.Measure.Deltas {
			if d.Class != "" || d.File != "" {
				continue
			}
			k := key{d.Probe, d.Name, d.Unit}
			if seen[k] == nil {
				seen[k] = make(map[string][]float64)
				keys = append(keys, k)
			}
			if known(d.Value) {
				seen[k][t.Cell.Layout] = append(seen[k][t.Cell.Layout], d.Value)
			}
		}
	}
	slices.SortFunc(keys, func(a, b key) int {
		return cmp.Or(cmp.Compare(a.probe, b.probe), cmp.Compare(a.name, b.name), cmp.Compare(a.unit, b.unit))
	})
	var out []counterRow
	for _, k := range keys {
		r := counterRow{Probe: k.probe, Name: k.name, Unit: k.unit}
		scale := 1.0
		if k.unit == "bytes" || k.unit == "B" {
			r.Unit, scale = "MB", 1e6
		}
		for _, row := range v.Rows {
			r.Values = append(r.Values, sig3(median(seen[k][row.Name])/scale))
		}
		out = append(out, r)
	}
	return out
}
