package report

import (
	"fmt"
	"slices"
	"strings"

	"filewise"
	"filewise/internal/say"
	"filewise/lab/probe"
	"filewise/results/report/document"
)

// ofMachine is a line that the machine's counters give for a measure.
type ofMachine struct {
	name  string
	of    reading
	write func(float64) string
}

// inPercent returns the line of a derived share.
func inPercent(name, probe, counter string) ofMachine {
	return ofMachine{name, counterOf(probe, counter), func(x float64) string { return say.Sig3(x) + " %" }}
}

func inBytes(name, probe, counter string) ofMachine {
	return ofMachine{name, counterOf(probe, counter), say.Bytes}
}

// machineAlways lists the lines that do not depend on devices.
var machineAlways = []ofMachine{
	inPercent("CPU: user", "cpu", probe.UserShare), inPercent("CPU: system", "cpu", probe.SystemShare),
	inPercent("CPU: idle, waiting for I/O", "cpu", probe.IOWaitShare),
	inPercent("CPU: taken by other virtual machines", "cpu", probe.StealShare),
	inPercent("CPU: Filewise and the server", "cpu", probe.OwnShare),
	inPercent("some tasks stalled for a CPU", "pressure", "cpu some"+probe.StallShare),
	inPercent("some tasks stalled for I/O", "pressure", "io some"+probe.StallShare),
	inPercent("all tasks stalled for I/O", "pressure", "io full"+probe.StallShare),
	inPercent("some tasks stalled for memory", "pressure", "memory some"+probe.StallShare),
	inBytes("memory: page cache", probe.ProbeMemory, probe.MemoryCached), inBytes("memory: dirty pages", probe.ProbeMemory, probe.MemoryDirty),
	inBytes("memory: pages being written", probe.ProbeMemory, probe.MemoryWriteback),
}

// ofDevice returns the lines about one device.
func ofDevice(name string) []ofMachine {
	rate := func(what, unit string, factor float64) ofMachine {
		n := counterOf("disk", name+" "+what)
		return ofMachine{name + ": " + what, func(m filewise.Measure) float64 { return n(m) * factor / (m.Window[1] - m.Window[0]).Seconds() },
			func(x float64) string { return say.Sig3(x) + " " + unit }}
	}
	each := func(what, time, number string) ofMachine {
		ms, n := counterOf("disk", name+" "+time), counterOf("disk", name+" "+number)
		return ofMachine{name + ": " + what, func(m filewise.Measure) float64 { return ms(m) / n(m) },
			func(x float64) string { return say.Sig3(x) + " ms" }}
	}
	queue := ofMachine{name + ": requests in queue or work, at a time", counterOf("disk", name+probe.MeanQueue), say.Sig3}
	return []ofMachine{
		rate("bytes read", "MB/s", 1e-6), rate("bytes written", "MB/s", 1e-6),
		rate("reads", "/s", 1), rate("writes", "/s", 1), rate("flushes", "/s", 1), queue,
		each("time of a read", "read time", "reads"), each("time of a write", "write time", "writes"),
		each("time of a flush", "flush time", "flushes"),
	}
}

// machine returns the machine's work during the measured windows, over all operations of a trial. A value that the
// platform does not have gets no line.
func (v view) machine() []document.Block {
	all := slices.Clone(machineAlways)
	for _, device := range v.counted(deviceOf) {
		all = append(all, ofDevice(device)...)
	}
	var lines []layoutLine
	for _, of := range all {
		cell := func(layout string) (document.Cell, bool) {
			return numberCell(median(v.overTrials(layout, of.of)), of.write)
		}
		if l, ok := v.line(cell, of.name); ok {
			lines = append(lines, l)
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return []document.Block{
		v.byLayout("The machine by layout", lines, 0, ""),
		document.Note("Medians over the trials of the means in the measured windows, whatever the cause. Unreported counters have " +
			"no row."),
	}
}

// deviceOf returns the device that wrote. It is empty if the delta is not about a device.
func deviceOf(d filewise.Delta) string {
	if name, ok := strings.CutSuffix(d.Name, " bytes written"); ok && d.Probe == "disk" {
		return name
	}
	return ""
}

// counters returns the probes' counters by probe, name and unit, each as the median over a layout's trials. Waits and
// the I/O of single files are left out.
func (v view) counters() []layoutLine {
	const sep = "\x00"
	var keys []string
	for _, t := range v.Trials {
		for _, d := range t.Measure.Deltas {
			if k := d.Probe + sep + d.Name + sep + d.Unit; t.inBlock() && d.Class == "" && d.File == "" && !slices.Contains(keys, k) {
				keys = append(keys, k)
			}
		}
	}
	slices.Sort(keys)
	var out []layoutLine
	for _, k := range keys {
		names, scale := strings.Split(k, sep), 1.0
		is := func(d filewise.Delta) bool {
			return d.Probe+sep+d.Name+sep+d.Unit == k && d.Class == "" && d.File == "" && say.Known(d.Value)
		}
		unit := names[2]
		if unit == "bytes" || unit == "B" {
			names[2], scale = "MB", 1e6
		}
		l, _ := v.line(func(layout string) (document.Cell, bool) {
			return numberCell(sumOf(is).median(v.measuresOf(layout, is))/scale, say.Sig3)
		}, names...)
		out = append(out, l)
	}
	return out
}

// counterTable returns all counters in a table that is folded away.
func (v view) counterTable() []document.Block {
	all := v.counters()
	if len(all) == 0 {
		return nil
	}
	return []document.Block{document.Fold{
		Summary: fmt.Sprintf("All %d counters of the measured window, the median over the trials of each layout", len(all)),
		Blocks:  []document.Block{v.byLayout("What the probes counted, by layout", all, 1, "probe", "counter", "unit")},
	}}
}
