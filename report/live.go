package report

import (
	"fmt"
	"strings"

	"filewise"
	"filewise/experiment"
)

// Table is the table of the layouts alone, for a display that shows it while
// the run goes on.
func Table(d Data, opts TerminalOptions) string {
	p := &page{width: max(opts.Width, 30), color: opts.Color}
	if v := newView(d); v.whole != nil {
		p.overview(v)
	} else {
		p.table(v)
	}
	return p.String()
}

// Rate writes a throughput with its unit: "20,100 rows/s".
func Rate(perSecond float64, unit string) string {
	return sig3(perSecond) + " " + unit + "/s"
}

// Measured writes what a measure gave: "20,100 rows/s", "recovery 230 ms".
func Measured(m filewise.Measure) string {
	if m.Unit == unitTimes {
		return m.Family + " " + human(m.Window[1]-m.Window[0])
	}
	return Rate(m.Throughput(), m.Unit)
}

// shown is how many measures of a trial stand in its line.
const shown = 2

// Outcome writes what a trial gave, in a line: the mean over all families where
// the plan has one, else the first two, and how many there are.
func Outcome(p experiment.Plan, t filewise.Trial) string {
	if m, ok := p.OverallMeasure(t); ok {
		return fmt.Sprintf("%s over all %d families", Measured(m), len(t.Measures))
	}
	named := len(t.Measures) > 1
	var parts []string
	for i, m := range t.Measures {
		if i == shown && len(t.Measures) > shown+1 {
			parts = append(parts, fmt.Sprintf("… (%d in all)", len(t.Measures)))
			break
		}
		parts = append(parts, measured(m, named))
	}
	return strings.Join(parts, ", ")
}

// measured names the family where there are several.
func measured(m filewise.Measure, named bool) string {
	switch {
	case !named || m.Unit == unitTimes:
		return Measured(m)
	case m.Work == 1: // a whole one, such as a backup
		return m.Family + " " + human(m.Window[1]-m.Window[0])
	}
	return m.Family + " " + Measured(m)
}
