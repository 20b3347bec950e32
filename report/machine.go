package report

import (
	"slices"
	"strings"

	"filewise"
	"filewise/probe"
)

// machineRow is something of the machine by layout.
type machineRow struct {
	Name   string
	Values []string // median over the layout's trials, in the order of the rows
}

// ofMachine is what the machine's counters say of a measure.
type ofMachine struct {
	name  string
	of    func(filewise.Measure) (float64, bool)
	write func(float64) string
}

// inPercent is a derived share.
func inPercent(name, probe, counter string) ofMachine {
	return ofMachine{name, delta(probe, counter), func(x float64) string { return sig3(x) + " %" }}
}

func inBytes(name, probe, counter string) ofMachine {
	return ofMachine{name, delta(probe, counter), byteText}
}

func delta(of, counter string) func(filewise.Measure) (float64, bool) {
	return func(m filewise.Measure) (float64, bool) { return probe.Find(m.Deltas, of, counter) }
}

// machineAlways are the lines that do not depend on devices.
var machineAlways = []ofMachine{
	inPercent("processors: user", "cpu", probe.UserShare), inPercent("processors: system", "cpu", probe.SystemShare),
	inPercent("processors: idle, waiting for I/O", "cpu", probe.IOWaitShare), inPercent("processors: taken by other virtual machines", "cpu", probe.StealShare),
	inPercent("processors: Filewise and the server", "cpu", probe.OwnShare),
	inPercent("some tasks stalled for a processor", "pressure", "cpu some"+probe.StallShare),
	inPercent("some tasks stalled for I/O", "pressure", "io some"+probe.StallShare),
	inPercent("all tasks stalled for I/O", "pressure", "io full"+probe.StallShare),
	inPercent("some tasks stalled for memory", "pressure", "memory some"+probe.StallShare),
	inBytes("memory: page cache", probe.ProbeMemory, probe.MemoryCached), inBytes("memory: dirty pages", probe.ProbeMemory, probe.MemoryDirty),
	inBytes("memory: pages being written", probe.ProbeMemory, probe.MemoryWriteback),
}

// ofDevice are the lines of one device.
func ofDevice(name string) []ofMachine {
	rate := func(what, unit string, factor float64) ofMachine {
		return ofMachine{name + ": " + what, func(m filewise.Measure) (float64, bool) {
			x, ok := probe.Find(m.Deltas, "disk", name+" "+what)
			return x * factor / (m.Window[1] - m.Window[0]).Seconds(), ok
		}, func(x float64) string { return sig3(x) + " " + unit }}
	}
	each := func(what, time, number string) ofMachine {
		return ofMachine{name + ": " + what, func(m filewise.Measure) (float64, bool) {
			ms, ok := probe.Find(m.Deltas, "disk", name+" "+time)
			n, also := probe.Find(m.Deltas, "disk", name+" "+number)
			return ms / n, ok && also && n > 0
		}, func(x float64) string { return sig3(x) + " ms" }}
	}
	queue := ofMachine{name + ": requests in queue or work, at a time", delta("disk", name+probe.MeanQueue), sig3}
	return []ofMachine{
		rate("bytes read", "MB/s", 1e-6), rate("bytes written", "MB/s", 1e-6), rate("reads", "/s", 1), rate("writes", "/s", 1), rate("flushes", "/s", 1), queue,
		each("time of a read", "read time", "reads"), each("time of a write", "write time", "writes"), each("time of a flush", "flush time", "flushes"),
	}
}

// MachineRows are what the machine did during the measured windows, over all
// families of a trial; what a platform does not tell has no line.
func (v view) MachineRows() []machineRow {
	trials := v.everyTrial()
	lines := machineAlways
	for _, d := range devices(trials) {
		lines = slices.Concat(lines, ofDevice(d))
	}
	var out []machineRow
	for _, line := range lines {
		row, found := machineRow{Name: line.name}, false
		for _, r := range v.Rows {
			var xs []float64
			for _, t := range trials {
				if t.Cell.Layout != r.Name {
					continue
				}
				if x, ok := overMeasures(t, line.of); ok {
					xs = append(xs, x)
				}
			}
			text := absent
			if len(xs) > 0 {
				text, found = line.write(median(xs)), true
			}
			row.Values = append(row.Values, text)
		}
		if found {
			out = append(out, row)
		}
	}
	return out
}

// everyTrial are the finished trials in blocks, with all their families.
func (v view) everyTrial() []filewise.Trial {
	trials := v.Data.Trials
	if v.whole != nil {
		trials = v.whole.Trials
	}
	return slices.DeleteFunc(slices.Clone(trials), func(t filewise.Trial) bool { return t.Cell.Pilot || t.State != filewise.Done })
}

// overMeasures is the mean over a trial's measures, by their length.
func overMeasures(t filewise.Trial, of func(filewise.Measure) (float64, bool)) (float64, bool) {
	sum, length := 0.0, 0.0
	for _, m := range t.Measures {
		took := (m.Window[1] - m.Window[0]).Seconds()
		if x, ok := of(m); ok && known(x) && took > 0 {
			sum, length = sum+x*took, length+took
		}
	}
	return sum / length, length > 0
}

// devices are those that any trial has counters of, in the order of the first.
func devices(trials []filewise.Trial) []string {
	var out []string
	for _, t := range trials {
		for _, m := range t.Measures {
			for _, d := range m.Deltas {
				if name, ok := strings.CutSuffix(d.Name, " bytes written"); ok && d.Probe == "disk" && !slices.Contains(out, name) {
					out = append(out, name)
				}
			}
		}
	}
	return out
}

// byteText writes an amount of bytes.
func byteText(x float64) string {
	for _, u := range []rate{{"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}} {
		if x >= u.Scale {
			return sig3(x/u.Scale) + " " + u.Name
		}
	}
	return sig3(x) + " B"
}

// machine writes what the machine did.
func (m *md) machine(v view) {
	var rows [][]string
	for _, r := range v.MachineRows() {
		rows = append(rows, append([]string{r.Name}, r.Values...))
	}
	if len(rows) == 0 {
		return
	}
	m.para("## The machine during the trials")
	m.rows(append([]string{""}, v.layoutNames()...), rows)
}

func (v view) layoutNames() []string {
	var out []string
	for _, r := range v.Rows {
		out = append(out, r.Name)
	}
	return out
}
