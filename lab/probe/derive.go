package probe

import (
	"fmt"
	"math"
	"strings"
	"time"

	"filewise"
)

// Names of the derived deltas of probe "cpu", in percent of all cores' time over the window. Busy time is all time that
// was neither idle nor waiting for I/O. It includes time stolen by the hypervisor, which was not available either.
const (
	UserShare   = "user share" // includes nice
	SystemShare = "system share"
	IOWaitShare = "iowait share"
	StealShare  = "steal share"
	IdleShare   = "idle share"
	BusyShare   = "busy share"
	OwnShare    = "own share" // of Filewise and the server; only if both are known
)

// Names of the other derived deltas. Each follows the name of its device or resource.
const (
	Utilisation = " utilisation"   // of a device, in percent; see func utilisation
	MeanQueue   = " mean queue"    // requests that a device had at a time, on average, in unitQueue
	StallShare  = " stalled share" // stall time of a line of /proc/pressure, in percent of the window
)

// unitQueue is the unit of MeanQueue.
const unitQueue = "requests at a time"

// IsMean reports whether a delta is a mean or a share over the window, not a sum.
func IsMean(d filewise.Delta) bool {
	return d.Unit == "%" || d.Unit == unitQueue || d.Unit == filewise.UnitPerByte || d.Probe == ProbeMemory ||
		strings.HasPrefix(d.Probe, filewise.ProbeDriver)
}

// derive appends the deltas that follow from the deltas of cumulative counters.
func derive(deltas []filewise.Delta, elapsed time.Duration) []filewise.Delta {
	deltas = levels(deltas)
	deltas = append(deltas, shares(deltas)...)
	if elapsed <= 0 {
		return deltas
	}
	deltas = append(deltas, stalls(deltas, elapsed)...)
	deltas = append(deltas, queues(deltas, elapsed)...)
	return append(deltas, utilisation(deltas, elapsed)...)
}

// stalls returns the shares of the window in which some, or all, tasks waited for a resource.
func stalls(deltas []filewise.Delta, elapsed time.Duration) []filewise.Delta {
	var out []filewise.Delta
	for _, d := range deltas {
		if d.Probe == "pressure" {
			out = append(out, filewise.Delta{Probe: d.Probe, Name: d.Name + StallShare, Unit: "%",
				Value: min(100*d.Value/(elapsed.Seconds()*1e6), 100)})
		}
	}
	return out
}

// queues returns how many requests each device had at a time on average, waiting or in work, by Little's law.
func queues(deltas []filewise.Delta, elapsed time.Duration) []filewise.Delta {
	var out []filewise.Delta
	for _, d := range deltas {
		if device, ok := cutSuffix(d.Name, " "+diskQueued); ok && d.Probe == "disk" {
			out = append(out, filewise.Delta{Probe: "disk", Name: device + MeanQueue, Unit: unitQueue, Value: d.Value / (elapsed.Seconds() * 1e3)})
		}
	}
	return out
}

// own returns the share of CPU time that Filewise and the server used. It returns nil if the server's share is not
// known. An embedded server is part of Filewise's process.
func own(deltas []filewise.Delta, embedded bool) []filewise.Delta {
	var mine float64
	total, known := ProcessorTime(deltas)
	if !known {
		return nil
	}
	for _, probe := range []string{"process", filewise.ProbeServer} {
		user, ok := Find(deltas, probe, "user")
		system, also := Find(deltas, probe, "system")
		if (!ok || !also) && !(embedded && probe == filewise.ProbeServer) {
			return nil
		}
		mine += user + system
	}
	return []filewise.Delta{{Probe: "cpu", Name: OwnShare, Unit: "%", Value: min(100*mine/total, 100)}}
}

// ProcessorTime returns the time of all cores of the server's machine between two readings, in seconds: elapsed time
// times the number of cores, busy or idle. It returns false if the time was not read.
func ProcessorTime(deltas []filewise.Delta) (total float64, ok bool) {
	for _, name := range cpuTimes {
		v, _ := Find(deltas, "cpu", name)
		total += v
	}
	_, known := Find(deltas, "cpu", BusyShare)
	return total, known && total > 0
}

// shares returns the kinds of CPU time in percent of their sum. It returns nil if a kind is missing without which the
// sum would be wrong.
func shares(deltas []filewise.Delta) []filewise.Delta {
	var total float64
	part := map[string]float64{}
	for _, name := range cpuTimes {
		v, ok := Find(deltas, "cpu", name)
		if !ok && cpuNeeded[name] {
			return nil
		}
		if ok {
			part[name] = v
			total += v
		}
	}
	if total <= 0 {
		return nil
	}
	percent := func(name string, seconds float64) filewise.Delta {
		return filewise.Delta{Probe: "cpu", Name: name, Unit: "%", Value: 100 * seconds / total}
	}
	out := []filewise.Delta{
		percent(UserShare, part["user"]+part["nice"]),
		percent(SystemShare, part["system"]+part["irq"]+part["softirq"]),
		percent(IOWaitShare, part["iowait"]),
		percent(IdleShare, part["idle"]),
		percent(BusyShare, total-part["idle"]-part["iowait"]),
	}
	if s, ok := part["steal"]; ok {
		out = append(out, percent(StealShare, s))
	}
	return out
}

// utilisation returns the share of the window in which each device had at least one request. A device that serves
// several requests at a time can do more at 100 %.
func utilisation(deltas []filewise.Delta, elapsed time.Duration) []filewise.Delta {
	var out []filewise.Delta
	for _, d := range deltas {
		if device, ok := cutSuffix(d.Name, " "+diskBusy); ok && d.Probe == "disk" {
			out = append(out, filewise.Delta{Probe: "disk", Name: device + Utilisation, Unit: "%",
				Value: min(100*d.Value/(elapsed.Seconds()*1e3), 100)})
		}
	}
	return out
}

// Absence is a counter that has no delta, with the reason.
type Absence struct {
	Probe  string `json:"probe"`
	Name   string `json:"name"` // empty means the whole probe
	Reason string `json:"reason"`
}

// key identifies a counter of a probe. A wait event has two counters of one name, a time and a count, so key includes
// the unit.
type key struct{ name, file, wait string }

func keyOf(c filewise.Counter) key {
	k := key{name: c.Name, file: c.File}
	if c.Class != "" {
		k.wait = c.Unit
	}
	return k
}

// Deltas pairs two readings of one probe by counter, in the order of the later reading. A counter is absent, with a
// reason, if it is in only one reading, or if it went backwards because it was reset or wrapped.
func Deltas(probe string, before, after []filewise.Counter) ([]filewise.Delta, []Absence) {
	earlier := make(map[key]filewise.Counter, len(before))
	for _, c := range before {
		earlier[keyOf(c)] = c
	}
	var deltas []filewise.Delta
	var absent []Absence
	seen := make(map[key]bool, len(after))
	for _, c := range after {
		k := keyOf(c)
		if seen[k] {
			continue
		}
		seen[k] = true
		b, ok := earlier[k]
		if !ok && c.Class != "" && filewise.OfWaits(probe) {
			b, ok = filewise.Counter{Unit: c.Unit}, true
		}
		if reason := unusable(b, c, ok); reason != "" {
			absent = append(absent, Absence{probe, label(c), reason})
			continue
		}
		deltas = append(deltas, filewise.Delta{Probe: probe, Name: c.Name, Unit: c.Unit, Value: c.Value - b.Value, Class: c.Class, File: c.File})
	}
	for _, c := range before {
		if k := keyOf(c); !seen[k] {
			seen[k] = true
			absent = append(absent, Absence{probe, label(c), "not in the reading at the window's end"})
		}
	}
	return deltas, absent
}

// label returns a counter's name, after its file if it has one.
func label(c filewise.Counter) string {
	if c.File != "" {
		return c.File + " " + c.Name
	}
	return c.Name
}

func unusable(before, after filewise.Counter, paired bool) string {
	switch d := after.Value - before.Value; {
	case !paired:
		return "not in the reading at the window's start"
	case before.Unit != after.Unit:
		return fmt.Sprintf("its unit changed from %q to %q", before.Unit, after.Unit)
	case math.IsNaN(d) || math.IsInf(d, 0):
		return "not a number"
	case d < 0:
		return fmt.Sprintf("it went backwards, from %.0f to %.0f: reset or wrapped", before.Value, after.Value)
	}
	return ""
}
