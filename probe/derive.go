package probe

import (
	"time"

	"filewise"
)

// Names of the derived deltas of probe "cpu", in percent of all processors' time
// over the window. Busy is what was neither idle nor waiting for I/O: time stolen
// by the hypervisor is not to be had either, so it counts as busy.
const (
	UserShare   = "user share" // nice included
	SystemShare = "system share"
	IOWaitShare = "iowait share"
	StealShare  = "steal share"
	IdleShare   = "idle share"
	BusyShare   = "busy share"
	OwnShare    = "own share" // of Filewise and the server, where both are known
)

// derive appends what follows from the deltas of cumulative counters.
func derive(deltas []filewise.Delta, elapsed time.Duration) []filewise.Delta {
	deltas = append(deltas, shares(deltas)...)
	return append(deltas, utilisation(deltas, elapsed)...)
}

// own is the share that Filewise and the server took; none when what the server
// took is not known: it is in Filewise's process when embedded.
func own(deltas []filewise.Delta, embedded bool) []filewise.Delta {
	var total, mine float64
	for _, name := range cpuTimes {
		v, _ := Find(deltas, "cpu", name)
		total += v
	}
	if _, known := Find(deltas, "cpu", BusyShare); !known || total <= 0 {
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

// shares are the processors' times in percent of their sum; none when a part
// without which the sum would be wrong is absent.
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

// utilisation is the share of the window in which a device had at least one
// request. 100 % is not the limit of a device that serves several at a time.
func utilisation(deltas []filewise.Delta, elapsed time.Duration) []filewise.Delta {
	if elapsed <= 0 {
		return nil
	}
	var out []filewise.Delta
	for _, d := range deltas {
		if device, ok := cutSuffix(d.Name, " "+diskBusy); ok && d.Probe == "disk" {
			out = append(out, filewise.Delta{Probe: "disk", Name: device + " utilisation", Unit: "%",
				Value: min(100*d.Value/(elapsed.Seconds()*1e3), 100)})
		}
	}
	return out
}
