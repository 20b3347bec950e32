package probe

import (
	"bytes"
	"math"
	"slices"
	"strconv"

	"filewise"
)

// cutSuffix is like strings.CutSuffix, except that the rest must not be empty.
func cutSuffix(s, suffix string) (string, bool) {
	if n := len(s) - len(suffix); n > 0 && s[n:] == suffix {
		return s[:n], true
	}
	return s, false
}

// number parses an unsigned decimal number as the kernel prints it.
func number(b []byte) (float64, bool) {
	n, err := strconv.ParseUint(string(b), 10, 64)
	return float64(n), err == nil
}

// userHz is the number of ticks per second of the times in /proc/stat. USER_HZ is 100 on every architecture that Go
// supports on Linux (include/asm-generic/param.h).
const userHz = 100

// cpuTimes lists the columns of line "cpu" in /proc/stat (man 5 proc_stat). The columns guest and guest_nice follow;
// they are included in user and nice.
var cpuTimes = []string{"user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"}

// cpuNeeded lists the times that shares cannot be computed without. Linux before 2.6.11 had no steal.
var cpuNeeded = map[string]bool{"user": true, "nice": true, "system": true, "idle": true, "iowait": true}

// parseCPU reads the machine's times, in seconds, and its context switches from the text of /proc/stat.
func parseCPU(text []byte) []filewise.Counter {
	var counters []filewise.Counter
	for line := range bytes.Lines(text) {
		fields := bytes.Fields(line)
		switch {
		case len(fields) == 0:
		case string(fields[0]) == "cpu":
			for i, name := range cpuTimes[:min(len(cpuTimes), len(fields)-1)] {
				if n, ok := number(fields[i+1]); ok {
					counters = append(counters, filewise.Counter{Name: name, Unit: "s", Value: n / userHz})
				}
			}
		case string(fields[0]) == "ctxt" && len(fields) > 1:
			if n, ok := number(fields[1]); ok {
				counters = append(counters, filewise.Counter{Name: filewise.ContextSwitches, Unit: "switches", Value: n})
			}
		}
	}
	return counters
}

// parsePressure reads the stall times, in µs, from the text of a file in /proc/pressure
// (Documentation/accounting/psi.rst). It skips "full" of the CPU, which is undefined for the whole machine and printed
// as zero.
func parsePressure(resource string, text []byte) []filewise.Counter {
	var counters []filewise.Counter
	for line := range bytes.Lines(text) {
		fields := bytes.Fields(line)
		if len(fields) < 2 {
			continue
		}
		kind := string(fields[0])
		if kind != "some" && kind != "full" || kind == "full" && resource == "cpu" {
			continue
		}
		for _, f := range fields[1:] {
			if v, ok := bytes.CutPrefix(f, []byte("total=")); ok {
				if n, ok := number(v); ok {
					counters = append(counters, filewise.Counter{Name: resource + " " + kind, Unit: "µs", Value: n})
				}
			}
		}
	}
	return counters
}

// callsWritten is the counter of a process's writes by system calls. It does not include requests through queues
// (io_uring, libaio).
const callsWritten = "bytes written by calls"

// selfIONames maps the fields of /proc/self/io (man 5 proc_pid_io) to counters.
var selfIONames = map[string]filewise.Counter{
	"rchar":      {Name: "bytes read by calls", Unit: "B"},
	"wchar":      {Name: callsWritten, Unit: "B"},
	"syscr":      {Name: "read calls", Unit: "calls"},
	"syscw":      {Name: "write calls", Unit: "calls"},
	"read_bytes": {Name: "bytes read from storage", Unit: "B"},
	// Counted when a page becomes dirty, in whole folios. It can be many times what reaches the storage, which the disk's
	// own counters show.
	"write_bytes":           {Name: "bytes dirtied in the page cache", Unit: "B"},
	"cancelled_write_bytes": {Name: "bytes never written", Unit: "B"}, // truncated or removed before writing
}

// parseSelfIO reads this process's I/O from the text of /proc/self/io.
func parseSelfIO(text []byte) []filewise.Counter {
	var counters []filewise.Counter
	for line := range bytes.Lines(text) {
		key, value, _ := bytes.Cut(line, []byte{':'})
		c, known := selfIONames[string(key)]
		if n, ok := number(bytes.TrimSpace(value)); known && ok {
			c.Value = n
			counters = append(counters, c)
		}
	}
	return counters
}

// diskBusy is the time in which a device had at least one request. diskQueued is the total time of all its requests,
// including their time in the queue.
const (
	diskBusy   = "busy time"
	diskQueued = "time of all requests"
)

// diskColumn is a column of /proc/diskstats after the device's name (Documentation/admin-guide/iostats.rst). Sectors
// always count 512 bytes there.
type diskColumn struct {
	index      int
	name, unit string
	factor     float64
}

var diskColumns = []diskColumn{
	{0, "reads", "requests", 1}, {1, "reads merged", "requests", 1}, {2, "bytes read", "B", 512}, {3, "read time", "ms", 1},
	{4, "writes", "requests", 1}, {5, "writes merged", "requests", 1}, {6, "bytes written", "B", 512}, {7, "write time", "ms", 1},
	{9, diskBusy, "ms", 1}, {10, diskQueued, "ms", 1},
	{15, "flushes", "requests", 1}, {16, "flush time", "ms", 1}, // since Linux 5.5
}

// parseDisks reads the counters of the named devices from the text of
// /proc/diskstats.
func parseDisks(text []byte, devices []string) []filewise.Counter {
	var counters []filewise.Counter
	for line := range bytes.Lines(text) {
		fields := bytes.Fields(line)
		if len(fields) < 4 || !slices.Contains(devices, string(fields[2])) {
			continue
		}
		name := string(fields[2])
		for _, c := range diskColumns {
			if 3+c.index >= len(fields) {
				break
			}
			if n, ok := number(fields[3+c.index]); ok && !math.IsInf(n, 0) {
				counters = append(counters, filewise.Counter{Name: name + " " + c.name, Unit: c.unit, Value: n * c.factor})
			}
		}
	}
	return counters
}

// memoryNames maps the fields read from /proc/meminfo (man 5 proc_meminfo), which are in kB, to names.
var memoryNames = map[string]string{
	"MemTotal": MemoryTotal, "MemAvailable": MemoryAvailable, "Cached": MemoryCached, "Dirty": MemoryDirty, "Writeback": MemoryWriteback,
}

// parseMemory reads the amounts, in bytes, from the text of /proc/meminfo.
func parseMemory(text []byte) map[string]float64 {
	found := make(map[string]float64)
	for line := range bytes.Lines(text) {
		key, rest, _ := bytes.Cut(line, []byte{':'})
		fields := bytes.Fields(rest)
		name := memoryNames[string(key)]
		if name == "" || len(fields) != 2 || string(fields[1]) != "kB" {
			continue
		}
		if n, ok := number(fields[0]); ok {
			found[name] = n * 1024
		}
	}
	return found
}
