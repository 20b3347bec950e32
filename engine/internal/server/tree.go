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

// Tree returns the probe of all processes of a server: its main process and those that
// it starts. running is the main process. If nil, there is none.
//
// What a process has used is added to its parent's account when it has ended and
// the parent has taken note (times: man 5 proc_pid_stat, cutime and cstime; I/O:
// kernel/exit.c, wait_task_zombie), so that nothing is lost when a session's
// process ends.
func Tree(running func() *Process) filewise.Probe {
	return filewise.ProbeOf(filewise.ProbeServer, func(context.Context) ([]filewise.Counter, error) { return usageOf(running()) })
}

var errStopped = errors.New("the server is stopped")

// usageOf is processor time and I/O of the server's processes.
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

// userHz is the unit of the times in /proc/PID/stat on every architecture of Go's.
const userHz = 100

// ioLines are the lines of /proc/PID/io (man 5 proc_pid_io). What is written is
// counted when a page becomes dirty.
var ioLines = map[string]int{"rchar": 0, "wchar": 1, "syscr": 2, "syscw": 3, "read_bytes": 4, "write_bytes": 5}

// ioCounters are called as the counters of Filewise's own process.
var ioCounters = []filewise.Counter{
	{Name: "bytes read by calls", Unit: "B"}, {Name: "bytes written by calls", Unit: "B"}, {Name: "read calls", Unit: "calls"},
	{Name: "write calls", Unit: "calls"}, {Name: "bytes read from storage", Unit: "B"}, {Name: "bytes dirtied in the page cache", Unit: "B"},
}

// usage holds what processes have used.
type usage struct {
	user, system float64 // ticks
	io           map[string]float64
	delay        time.Duration // see machine.RunDelay
	delayed      bool
}

// add adds a process with all that it has started. One that has just ended is on
// its parent's account; the first must be there.
func (u *usage) add(pid int, first bool) error {
	dir := "/proc/" + strconv.Itoa(pid)
	children := childrenOf(pid) // before the parent's account is read, lest one be on neither
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
	// Behind the name, which can hold anything: 14 to 17 are utime, stime, cutime, cstime.
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

// Busy returns how many threads of a server's main process run, or wait for a device.
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

// addIO adds what the kernel reports of the I/O, which is nothing without its
// accounting, or of another user's process.
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

// childrenOf returns the processes that a process's threads have started and that are
// not yet taken note of.
func childrenOf(pid int) []int {
	var all []int
	for _, t := range machine.Threads(pid) {
		text, _ := os.ReadFile(t + "/children") // empty if it has just ended
		for f := range strings.FieldsSeq(string(text)) {
			if pid, err := strconv.Atoi(f); err == nil {
				all = append(all, pid)
			}
		}
	}
	return all
}
