package workload

import (
	"fmt"
	"slices"
	"strings"

	"filewise"
)

// DiffersHere is everything that is not as published in a run of the design with these
// layouts at a scale: what the scale and the engine make of it, then what always differs.
func (s Scenario) DiffersHere(layouts []filewise.Layout, scale float64) []string {
	if s.Design == nil {
		return nil
	}
	var out []string
	there := s.Design.sizes(1, Scaled(s.Design.Bytes, 1, leastBytes))
	if here := s.AsPublished(scale).sizesHere(scale, layouts); scale != 1 && there != "" {
		out = append(out, fmt.Sprintf("Sizes: %s there, %s here.", there, here))
	}
	out = append(out, s.layoutsDiffer(layouts)...)
	return append(out, s.Design.Differs...)
}

// sizes are the design's at a scale, with data files of so many bytes.
func (d Design) sizes(scale float64, bytes int64) string {
	var parts []string
	if d.Bytes > 0 {
		parts = append(parts, bytesText(bytes)+" of data files")
	}
	if d.Work > 0 {
		parts = append(parts, bytesText(Scaled(d.Work, scale, 0))+" of work")
	}
	if d.Rows > 0 {
		parts = append(parts, fmt.Sprintf("%d rows", Scaled(d.Rows, scale, d.LeastRows)))
	}
	return strings.Join(parts, ", ")
}

// sizesHere are those of a scenario with the design's parameters at a scale.
func (s Scenario) sizesHere(scale float64, layouts []filewise.Layout) string {
	if p := s.Params; p.Warehouses > 0 {
		return fmt.Sprintf("%d warehouses with %.3g of the specification's customers and items", p.Warehouses, p.Scale)
	}
	bytes := s.Bytes
	if len(layouts) > 0 { // an engine's files may be larger than the scale's
		bytes = layouts[0].Data.Bytes
	}
	return s.Design.sizes(scale, bytes)
}

func bytesText(n int64) string {
	for _, unit := range []struct {
		name  string
		bytes int64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n >= unit.bytes {
			return fmt.Sprintf("%.4g %s", float64(n)/float64(unit.bytes), unit.name)
		}
	}
	return fmt.Sprintf("%d B", n)
}

// layoutsDiffer names the article's layouts that are not run here, and those that it had not.
func (s Scenario) layoutsDiffer(layouts []filewise.Layout) []string {
	d := s.Design
	var missing, further []string
	for _, n := range d.Files {
		if !slices.ContainsFunc(layouts, func(l filewise.Layout) bool { return s.NumberOf(l) == n }) {
			missing = append(missing, s.NameOf(n))
		}
	}
	for _, a := range d.Allocations {
		if !slices.ContainsFunc(layouts, func(l filewise.Layout) bool { return l.Data.Allocation == a }) {
			missing = append(missing, string(a)+" files")
		}
	}
	seen := map[string]bool{}
	for _, l := range layouts {
		key := fmt.Sprint(s.NumberOf(l), len(d.Allocations) > 1, l.Data.Allocation)
		if seen[key] || !slices.Contains(slices.Concat(d.Files, d.Further), s.NumberOf(l)) {
			further = append(further, l.Name)
		}
		seen[key] = true
	}
	var out []string
	if len(missing) > 0 {
		out = append(out, "Published and not run here, where the engine cannot do it: "+strings.Join(missing, ", ")+".")
	}
	if len(further) > 0 {
		out = append(out, "Run here and not published: "+strings.Join(further, ", ")+".")
	}
	return out
}
