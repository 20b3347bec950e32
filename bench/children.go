//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// childrenTime is the processor time of all threads of all processes that this one
// has started, and they in turn. The kernel's scheduler counts it to the nanosecond,
// where the sums of a process are in hundredths of a second.
func childrenTime() (time.Duration, error) {
	pids, err := children(os.Getpid(), true)
	var sum time.Duration
	for _, pid := range pids {
		threads, globErr := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
		err = errors.Join(err, globErr)
		for _, path := range threads {
			text, readErr := os.ReadFile(path)
			if readErr != nil {
				continue // it has ended meanwhile
			}
			nanos, _, _ := strings.Cut(string(text), " ")
			n, numberErr := strconv.ParseInt(nanos, 10, 64)
			sum, err = sum+time.Duration(n), errors.Join(err, numberErr)
		}
	}
	return sum, err
}

// children are the processes that one has started, and if they are wanted those that
// these have started in turn.
func children(pid int, all bool) (pids []int, err error) {
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, path := range lists {
		text, readErr := os.ReadFile(path)
		if readErr != nil {
			continue // the thread has ended meanwhile
		}
		for word := range strings.FieldsSeq(string(text)) {
			child, numberErr := strconv.Atoi(word)
			pids, err = append(pids, child), errors.Join(err, numberErr)
			if all {
				below, belowErr := children(child, true)
				pids, err = append(pids, below...), errors.Join(err, belowErr)
			}
		}
	}
	return pids, err
}
