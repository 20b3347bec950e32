package report

// entry leads from the top of the report to a section.
type entry struct{ ID, Name string }

// Contents are the sections that the report has, in their order.
func (v view) Contents() []entry {
	var out []entry
	add := func(there bool, id, name string) {
		if there {
			out = append(out, entry{id, name})
		}
	}
	add(true, "differences", "Differences")
	add(v.Sweep() != nil, "loads", "Loads")
	add(len(v.Causes()) > 0, "why", "Why")
	add(len(v.Waits()) > 0, "waits", "Waits")
	add(len(v.FileLoads()) > 0, "files", "Files")
	add(len(v.Written()) > 0, "written", "Writes")
	add(len(v.Meters()) > 0, "limits", "Limits")
	add(len(v.MachineRows()) > 0, "machine", "Machine")
	add(len(v.Types()) > 0, "types", "Latency")
	add(v.AsPublished() != nil, "as-published", "As published")
	add(len(v.Notices()) > 0, "warnings", "Warnings")
	add(len(v.Shape()) > 0, "published", "Published")
	add(true, "trials", "Trials")
	add(true, "looks", "Looks")
	add(true, "time", "Time")
	add(true, "method", "Method")
	add(true, "setup", "Set-up")
	add(true, "repeat", "Repeat")
	return out
}
