package report

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
