package experiment

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/lab/probe"
)

// hardlyRead returns the bytes read from storage below which a trial's reads come from memory: a hundredth of the data,
// or up to half of a small amount.
func hardlyRead(data float64) float64 { return max(data/100, min(data/2, 16<<20)) }

// fitsInMemory returns a clause that the data fit into memory. It returns "" if they do not, if that is not known, if
// caches are emptied before, or if counters show that reads came from storage anyway.
func (h history) fitsInMemory(trials []filewise.Trial) string {
	if h.plan.cold() {
		return ""
	}
	var data, memory, read float64
	for _, l := range h.plan.Layouts {
		var sizes, totals, reads []float64
		for _, t := range trials {
			if t.Cell.Layout != l.Name {
				continue
			}
			total, known := h.memoryOf(t)
			if !known {
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
		return ""
	}
	return fmt.Sprintf("the data (%s) fit into memory (%s)", humanize.IBytes(uint64(data)), humanize.IBytes(uint64(memory)))
}

// memoryOf returns the memory that the server may use, in bytes, or else the memory of its host. It returns false if
// neither is known.
func (h history) memoryOf(t filewise.Trial) (float64, bool) {
	if limit := h.plan.Target.Memory; limit > 0 {
		return float64(limit), true
	}
	for _, name := range []string{filewise.ProbeServerMemory, probe.ProbeMemory} { // behind a forwarded port, this machine is not the server's
		for _, m := range t.Measures {
			if x, ok := probe.Find(m.Deltas, name, filewise.MemoryTotal); ok {
				return x, true
			}
		}
	}
	return 0, false
}

// dataBytes returns the size of a trial's data and index files after the work: used space if known, else file size.
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

// readFromStorage returns the bytes that the server read from storage, or else its busiest device, in the operation that
// read most.
func (h history) readFromStorage(t filewise.Trial) (most float64, ok bool) {
	server := filewise.ProbeServer
	if h.plan.Target.Mode == filewise.Embedded {
		server = "process"
	}
	for _, m := range t.Measures {
		x, known := probe.Find(m.Deltas, server, "bytes read from storage")
		if _, own := probe.Find(m.Deltas, filewise.ProbeServerMemory, filewise.MemoryTotal); own {
			for _, d := range m.Deltas {
				if d.Probe == filewise.ProbeFiles && d.Name == filewise.FileBytesRead {
					x, known = x+d.Value, true
				}
			}
		} else if !known {
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

// leastWritten is the fewest bytes that a trial writes if it counts as writing.
const leastWritten = 1 << 20

// beforeCheckpoint returns a clause that trials ended before a checkpoint was due, or "" if they did not. cycle is the
// time from one checkpoint to the next, or 0 if it is not known.
func (h history) beforeCheckpoint(trials []filewise.Trial) (why string, cycle time.Duration) {
	least := 1.0
	for _, l := range h.plan.Layouts {
		var cycles, windows []float64
		for _, t := range trials {
			if t.Cell.Layout != l.Name {
				continue
			}
			if n, window, ok := checkpointsOf(t); ok {
				cycles, windows = append(cycles, n), append(windows, window.Seconds())
			}
		}
		if len(cycles) == 0 || l.Backup.Files > 0 {
			continue
		}
		n := middle(cycles)
		least = min(least, n)
		if n > 0 {
			cycle = max(cycle, time.Duration(middle(windows)/n*float64(time.Second)))
		}
	}
	if least >= 1 {
		return "", 0
	}
	return fmt.Sprintf("trials end before a checkpoint (%.2g of its cycle)", least), cycle
}

// checkpointsOf returns the checkpoint cycles and the time of all measures of a trial. It returns false if the trial
// hardly wrote or no cycles were counted.
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

// remoteWarning warns if the server is on another host.
func (h history) remoteWarning() []filewise.Warning {
	t := h.plan.Target
	if t.Mode != filewise.External || t.Address == nil || t.Address.Here() ||
		!slices.ContainsFunc(h.trials, func(t filewise.Trial) bool { return t.State == filewise.Done }) {
		return nil
	}
	return []filewise.Warning{{Code: "remote-client",
		Message: fmt.Sprintf("Filewise ran on another host than the server (%s): the network is part of what was measured, and nothing was "+
			"seen of the server's CPU, memory and devices.", t.Address.Host),
		Remedy: "Run Filewise on the server's host, or one near to it; work is sent in calls of 50 to 200 ms if the engine can, which keeps " +
			"the network's part small."}}
}
