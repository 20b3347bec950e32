package machine

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"filewise"
)

// CoreLimits binds processes, with everything they start, to some of the processors on which Filewise may run. It takes
// one NUMA node's processors before the next node's.
type CoreLimits struct{ set unix.CPUSet }

// LimitCores chooses n processors. The error has CodePreflight if there are fewer.
func LimitCores(n int) (*CoreLimits, error) {
	var allowed unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		return nil, filewise.Errorf(filewise.CodePreflight, "leave --cores out", "the processors are unknown: %w", err)
	}
	if n > allowed.Count() {
		return nil, filewise.Errorf(filewise.CodePreflight, fmt.Sprintf("give --cores %d or fewer", allowed.Count()),
			"a server cannot be bound to %s: Filewise itself may use %d here", filewise.Counted(n, "processor"), allowed.Count())
	}
	l := &CoreLimits{}
	for _, c := range byNode(allowed, host.nodeOf)[:n] {
		l.set.Set(c)
	}
	return l, nil
}

// byNode returns the processors of a set, node by node.
func byNode(set unix.CPUSet, nodeOf func(cpu int) int) []int {
	var all []int
	for c := range len(set) * strconv.IntSize {
		if set.IsSet(c) {
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(nodeOf(a), nodeOf(b)) })
	return all
}

// nodeOf returns the NUMA node of a processor, or 0 if there is only one node.
func (r roots) nodeOf(cpu int) int {
	nodes, _ := filepath.Glob(filepath.Join(r.sys, fmt.Sprintf("devices/system/cpu/cpu%d/node[0-9]*", cpu)))
	if len(nodes) == 0 {
		return 0
	}
	n, _ := strconv.Atoi(strings.TrimPrefix(filepath.Base(nodes[0]), "node"))
	return n
}

// Add binds a process, its threads, and everything that it has started or will start.
func (l *CoreLimits) Add(pid int) error {
	if err := eachOf(int32(pid), l.bind); err != nil {
		return fmt.Errorf("bind process %d to %s: %w", pid, filewise.Counted(l.set.Count(), "processor"), err)
	}
	return nil
}

// bind binds all threads of a process.
func (l *CoreLimits) bind(pid int32) error {
	bound := make(map[int]bool)
	for again := true; again; { // a thread may have started another one in the meantime
		again = false
		threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
		if errors.Is(err, os.ErrNotExist) {
			return syscall.ESRCH
		}
		if err != nil {
			return err
		}
		for _, t := range threads {
			id, err := strconv.Atoi(t.Name())
			if err != nil || bound[id] {
				continue
			}
			if err := unix.SchedSetaffinity(id, &l.set); err != nil && !errors.Is(err, syscall.ESRCH) { // the thread may have ended
				return err
			}
			bound[id], again = true, true
		}
	}
	return nil
}
