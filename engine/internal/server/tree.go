package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"filewise"
	"filewise/host/machine"
)

// Tree returns the probe of a server's processes: its main process and the processes that it starts. running returns
// the main process, or nil if there is none.
//
// When a process has ended and its parent has waited for it, the kernel adds its usage to the parent's (times: man 5
// proc_pid_stat, cutime and cstime; I/O: kernel/exit.c, wait_task_zombie). So nothing is lost when a session's process
// ends.
func Tree(running func() *Process) filewise.Probe {
	return filewise.ProbeOf(filewise.ProbeServer, func(context.Context) ([]filewise.Counter, error) { return usageOf(running()) })
}

var errStopped = errors.New("the server is stopped")

// usageOf returns the processor time and I/O of the server's processes.
func usageOf(p *Process) ([]filewise.Counter, error) {
	if p == nil {
		return nil, errStopped
	}
	sum := usage{io: map[string]float64{}}
	if err := sum.add(p.PID(), true); err != nil {
		return nil, fmt.Errorf("not reported by this system: %w", err)
	}
	all := []filewise.Counter{{Name: "user", Unit: "s", Value: sum.user / userHz}, {Name: "system", Unit: "s", Value: sum.system / userHz}}
	if sum.delayed {
		all = append(all, filewise.Counter{Name: filewise.ProcessorWait, Unit: "s", Value: sum.delay.Seconds()})
	}
	for _, c := range ioCounters {
		if x, ok := sum.io[c.Unit+c.Name]; ok {
			all = append(all, filewise.Counter{Name: c.Name, Unit: c.Unit, Value: x})
		}
	}
	return all, nil
}

// userHz is the number of ticks per second in /proc/PID/stat, on every architecture that Go supports.
const userHz = 100

// ioLines maps the lines of /proc/PID/io (man 5 proc_pid_io) to indexes of ioCounters. Written bytes are counted when a
// page becomes dirty.
var ioLines = map[string]int{"rchar": 0, "wchar": 1, "syscr": 2, "syscw": 3, "read_bytes": 4, "write_bytes": 5}

// ioCounters have the same names as the counters of Filewise's own process.
var ioCounters = []filewise.Counter{
	{Name: "bytes read by calls", Unit: "B"}, {Name: "bytes written by calls", Unit: "B"}, {Name: "read calls", Unit: "calls"},
	{Name: "write calls", Unit: "calls"}, {Name: "bytes read from storage", Unit: "B"}, {Name: "bytes dirtied in the page cache", Unit: "B"},
}

// usage sums what processes have used.
type usage struct {
	user, system float64 // ticks
	io           map[string]float64
	delay        time.Duration // see machine.RunDelay
	delayed      bool
}

// add adds a process and its descendants. A process that has just ended is counted in its parent. first is true for the
// main process, which must exist.
func (u *usage) add(pid int, first bool) error {
	dir := "/proc/" + strconv.Itoa(pid)
	children := childrenOf(pid) // listed before the parent's usage is read, lest an ending child be counted in neither
	for _, child := range children {
		if err := u.add(child, false); err != nil {
			return err
		}
	}
	stat, err := os.ReadFile(dir + "/stat")
	if err != nil {
		if first {
			return err
		}
		return nil
	}
	// Fields are counted behind the name, which can contain anything: 14 to 17 are utime, stime, cutime, cstime.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 15 {
		return fmt.Errorf("%s/stat has %d fields", dir, len(fields))
	}
	for i, to := range []*float64{&u.user, &u.system, &u.user, &u.system} {
		n, err := strconv.ParseUint(string(fields[11+i]), 10, 64)
		if err != nil {
			return fmt.Errorf("%s/stat: %w", dir, err)
		}
		*to += float64(n)
	}
	u.addIO(dir)
	delay, ok := machine.RunDelay(pid)
	u.delay, u.delayed = u.delay+delay, u.delayed || ok
	return nil
}

// Busy returns how many threads of a server's main process run or wait for a device (states R and D).
func Busy(p *Process) (n int, err error) {
	threads := machine.Threads(p.PID())
	if len(threads) == 0 {
		return 0, errStopped
	}
	for _, t := range threads {
		text, err := os.ReadFile(t + "/stat")
		if i := bytes.LastIndexByte(text, ')'); err == nil && i+2 < len(text) && (text[i+2] == 'R' || text[i+2] == 'D') {
			n++
		}
	}
	return n, nil
}

// addIO adds the kernel's I/O counts. They are missing if the kernel has no I/O accounting, or if the process is
// another user's.
func (u *usage) addIO(dir string) {
	text, err := os.ReadFile(dir + "/io")
	if err != nil {
		return
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		key, value, _ := strings.Cut(line, ": ")
		i, known := ioLines[key]
		n, err := strconv.ParseUint(value, 10, 64)
		if known && err == nil {
			u.io[ioCounters[i].Unit+ioCounters[i].Name] += float64(n)
		}
	}
}

// childrenOf returns the children of a process's threads, except those that it has waited for.
func childrenOf(pid int) []int {
	var all []int
	for _, t := range machine.Threads(pid) {
		text, _ := os.ReadFile(t + "/children") // empty if the thread has just ended
		for f := range strings.FieldsSeq(string(text)) {
			if pid, err := strconv.Atoi(f); err == nil {
				all = append(all, pid)
			}
		}
	}
	return all
}
