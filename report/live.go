package report

import "filewise"

// Table is the table of the layouts alone, for a display that shows it while
// the run goes on.
func Table(d Data, opts TerminalOptions) string {
	p := &page{width: max(opts.Width, 30), color: opts.Color}
	p.table(newView(d))
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
