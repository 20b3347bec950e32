package experiment

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/probe"
)

// hardlyRead is what a trial reads from the storage at most, in bytes, when its reads
// come from memory: a hundredth of the data, or up to a half of little.
func hardlyRead(data float64) float64 { return max(data/100, min(data/2, 16<<20)) }

// memoryWarning says that the data fit into memory, where that is known and the
// counters do not say that reads came from the storage all the same.
func (h history) memoryWarning() []filewise.Warning {
	var data, memory, read float64
	for _, l := range h.plan.Layouts {
		var sizes, totals, reads []float64
		for _, t := range h.counted(h.lastBlock()) {
			total, known := memoryOf(t)
			if t.Cell.Layout != l.Name || !known {
				continue
			}
			sizes, totals = append(sizes, dataBytes(t)), append(totals, total)
			if r, ok := h.readFromStorage(t); ok {
				reads = append(reads, r)
			}
		}
		if len(sizes) == 0 {
			continue
		}
		data, memory = max(data, middle(sizes)), middle(totals)
		if len(reads) > 0 {
			read = max(read, middle(reads))
		}
	}
	if data == 0 || data >= memory || read >= hardlyRead(data) {
		return nil
	}
	return []filewise.Warning{{Code: "less-data-than-memory",
		Message: fmt.Sprintf("Less data (%s) than memory (%s): nothing is said about reading from the storage.",
			humanize.IBytes(uint64(data)), humanize.IBytes(uint64(memory))),
		Remedy: h.readRemedy()}}
}

// readRemedy says how the storage comes to be read.
func (h history) readRemedy() string {
	const more = "For a database larger than its memory, give more "
	switch h.plan.Scenario {
	case "orders":
		return more + "--warehouses."
	case "dml", "backup", "dump", "temp":
		return more + "--rows."
	case "scan":
		if h.plan.Params.Cache == string(filewise.CacheStorageCold) {
			return more + "--rows."
		}
		return more + "--rows, or --cache storage-cold."
	}
	return "To measure reading as well: filewise run scan --cache storage-cold."
}

// memoryOf is the memory that the server's host has.
func memoryOf(t filewise.Trial) (float64, bool) {
	for _, m := range t.Measures {
		if x, ok := probe.Find(m.Deltas, probe.ProbeMemory, probe.MemoryTotal); ok {
			return x, true
		}
	}
	return 0, false
}

// dataBytes is the size of a trial's data and index files behind the work, as far as
// they are used.
func dataBytes(t filewise.Trial) float64 {
	files := t.Final
	if len(files) == 0 {
		files = t.Files
	}
	total := 0.0
	for _, f := range files {
		switch {
		case f.Role != filewise.RoleData && f.Role != filewise.RoleIndex:
		case f.Used != nil:
			total += float64(*f.Used)
		default:
			total += float64(f.Bytes)
		}
	}
	return total
}

// readFromStorage is what the server has read of the storage, or else its busiest
// device, in the family that read most.
func (h history) readFromStorage(t filewise.Trial) (most float64, ok bool) {
	server := filewise.ProbeServer
	if h.plan.Target.Mode == filewise.Embedded {
		server = "process"
	}
	for _, m := range t.Measures {
		x, known := probe.Find(m.Deltas, server, "bytes read from storage")
		if !known {
			for _, d := range m.Deltas {
				if d.Probe == "disk" && strings.HasSuffix(d.Name, " bytes read") {
					x, known = max(x, d.Value), true
				}
			}
		}
		if known {
			most, ok = max(most, x), true
		}
	}
	return most, ok
}

// leastWritten is what a trial writes at least, in bytes, to be one of writing.
const leastWritten = 1 << 20

// checkpointWarning says that trials were over before a checkpoint came round.
func (h history) checkpointWarning() []filewise.Warning {
	var parts []string
	longest := time.Duration(0)
	for _, l := range h.plan.Layouts {
		var cycles, windows []float64
		for _, t := range h.counted(h.lastBlock()) {
			if n, window, ok := checkpointsOf(t); ok && t.Cell.Layout == l.Name {
				cycles, windows = append(cycles, n), append(windows, window.Seconds())
			}
		}
		if len(cycles) == 0 || middle(cycles) >= 1 || l.Backup.Files > 0 {
			continue
		}
		n := middle(cycles)
		parts = append(parts, fmt.Sprintf("%s %.2g", l.Name, n))
		if n > 0 {
			longest = max(longest, time.Duration(middle(windows)/n*float64(time.Second)))
		}
	}
	if len(parts) == 0 {
		return nil
	}
	held := strings.Join(parts, ", ") + " in the typical one"
	if longest == 0 {
		held = "none in the typical one"
	}
	return []filewise.Warning{{Code: "shorter-than-checkpoint",
		Message: fmt.Sprintf("Trials were shorter than a checkpoint cycle (%s): what checkpoints write later is not in the throughput.", held),
		Remedy:  h.longer(longest) + ". Beside the throughput the report has how long it took until everything was durable."}}
}

// longer says how trials come to last a cycle; 0: it is not known how long one takes.
func (h history) longer(cycle time.Duration) string {
	enough := cycle + cycle/4
	t := h.plan.Target
	switch {
	case h.plan.Window == 0 && h.plan.Work > 0:
		return "Give more --work"
	case h.plan.Window == 0:
		return "Give more work, by --rows or --repeat where the scenario has them"
	case enough > 0:
		return fmt.Sprintf("Give --window %v or more, and --budget as it then asks for", enough.Round(max(enough/20, time.Second)).Round(time.Second))
	case t.Engine == "postgres" && t.Mode == filewise.Managed:
		return "Give --window 40s --set checkpoint_timeout=30s --budget 15m, or more"
	}
	return "Give a longer --window"
}

// checkpointsOf are the cycles over all that a trial measured, where it wrote.
func checkpointsOf(t filewise.Trial) (cycles float64, window time.Duration, ok bool) {
	wrote := 0.0
	for _, m := range t.Measures {
		n, known := probe.Find(m.Deltas, filewise.ProbeCheckpoints, filewise.CheckpointCycles)
		if !known {
			continue
		}
		cycles, window, ok = cycles+n, window+m.Window[1]-m.Window[0], true
		for _, name := range []string{filewise.WrittenLog, filewise.WrittenCalls} {
			if x, known := probe.Find(m.Deltas, filewise.ProbeWritten, name); known {
				wrote += x
				break
			}
		}
	}
	return cycles, window, ok && wrote >= leastWritten
}

// remoteWarning says that the server may be on another host.
func (h history) remoteWarning() []filewise.Warning {
	t := h.plan.Target
	if t.Mode != filewise.External || t.Address == nil || t.Address.Here() || !slices.ContainsFunc(h.trials, func(t filewise.Trial) bool { return t.State == filewise.Done }) {
		return nil
	}
	return []filewise.Warning{{Code: "remote-client",
		Message: fmt.Sprintf("Filewise ran on another host than the server (%s): the network is part of what was measured, and nothing was seen of the server's processors, memory and devices.", t.Address.Host),
		Remedy:  "Run Filewise on the server's host, or one near to it; work is sent in calls of 50 to 200 ms where the engine can, which keeps the network's part small."}}
}
