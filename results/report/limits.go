package report

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"filewise"
	"filewise/internal/say"
	"filewise/lab/cause"
	"filewise/lab/probe"
	"filewise/results/report/chart"
	"filewise/results/report/document"
)

// meter holds the use of a resource by one layout.
type meter struct {
	of, layout  string
	percent     float64 // median over the trials
	least, most float64 // over the trials
	limit       float64 // use from which a verdict about storage loses its meaning
}

func (m meter) text() string { return fmt.Sprintf("%.0f %%", m.percent) }

func (m meter) span() string { return fmt.Sprintf("%.0f–%.0f %%", m.least, m.most) }

// limits returns the use of the processors and of the storage next to their limits, over all operations of a trial. It
// returns nothing if no use was read.
func (v view) limits() []document.Block {
	charts := document.Figure{Grid: true}
	var all []meter
	names := v.counted(resource)
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(boolCompare(a == processors, b == processors), cmp.Compare(a, b)) })
	for _, name := range names {
		ms := v.meters(name)
		if len(ms) > 0 {
			charts.Drawings = append(charts.Drawings, document.Drawing{Name: name, SVG: metersChart(ms)})
			all = append(all, ms...)
		}
	}
	if len(all) == 0 {
		return nil
	}
	t := document.Table{Caption: "How much was in use: the median over the trials, the smallest and the largest"}
	table := document.Tabulate(t, all,
		document.Words("of", func(m meter) string { return m.of }),
		document.Name("layout", func(m meter) string { return m.layout }),
		document.Num("median", meter.text).Raw("%", func(m meter) float64 { return m.percent }),
		document.Num("range", meter.span))
	storage := slices.DeleteFunc(slices.Clone(v.Machine), func(f filewise.Fact) bool { return !strings.HasPrefix(f.Name, "storage limit") })
	return []document.Block{
		charts, document.Fold{Summary: "In numbers", Blocks: []document.Block{table}},
		document.OnPages(document.Note(fmt.Sprintf("Medians over the trials, the smallest and largest in brackets. The upright line is where "+
			"a limit begins to decide: "+
			"from %d %% CPU on, the run cannot judge storage. A device that always has a request may still take more at a time: "+
			"fio's measurement is the better guide.", probe.BusyLimit)), facts("What the storage gives", storage)),
	}
}

// meters returns a resource's use, by layout.
func (v view) meters(name string) []meter {
	limit := float64(cause.NearLimit)
	if name == processors {
		limit = probe.BusyLimit
	}
	used := func(m filewise.Measure) float64 {
		i := slices.IndexFunc(m.Deltas, func(d filewise.Delta) bool { return resource(d) == name && say.Known(d.Value) })
		if i < 0 {
			return nan
		}
		return m.Deltas[i].Value
	}
	var out []meter
	for _, r := range v.Rows {
		if xs := v.overTrials(r.Name, used); len(xs) > 0 {
			out = append(out, meter{name, r.Name, median(xs), slices.Min(xs), slices.Max(xs), limit})
		}
	}
	return out
}

const processors = "processors busy"

// resource returns the name of the resource that a percentage refers to, or nothing if that has no limit. A device that
// always has a request may still accept more at a time. So its use is the least informative if fio found no limit.
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

// metersChart returns bars of the used share, on a scale from 0 to 100 %.
func metersChart(ms []meter) template.HTML {
	var bars []chart.Bar
	for _, m := range ms {
		class := "used"
		if m.percent >= m.limit {
			class = "used over"
		}
		bars = append(bars, chart.Bar{
			Name: m.layout, Label: m.text() + say.InBrackets(m.span()), Limit: m.limit, LimitTip: fmt.Sprintf("%g %%", m.limit),
			Whole: chart.Segment{Length: 100, Classes: []string{"trough"}},
			Parts: []chart.Segment{{Length: m.percent, Classes: []string{class}, Tip: m.layout + ": " + m.text()}},
		})
	}
	return chart.Bars(bars, 12, chart.Axes{Over: "in use, %", Number: chart.Brief}, ms[0].of+" by layout; the numbers stand at the bars.")
}
