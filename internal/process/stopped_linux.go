package process

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// ChildStopped reports whether a process below this one is stopped (state T or t).
func ChildStopped() bool {
	self := os.Getpid()
	return slices.ContainsFunc(stopped(), func(pid int) bool {
		for range 16 { // generations
			if pid = parent(pid); pid == self {
				return true
			}
			if pid <= 1 {
				return false
			}
		}
		return false
	})
}

// StoppedAt reports whether a stopped process has a TCP socket at a port of this host. Only root can see other users'
// processes.
func StoppedAt(port int) bool {
	pids := stopped()
	if len(pids) == 0 {
		return false
	}
	sockets := socketsAt(port)
	return slices.ContainsFunc(pids, func(pid int) bool {
		files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		return slices.ContainsFunc(files, func(file string) bool {
			link, err := os.Readlink(file)
			return err == nil && sockets[link]
		})
	})
}

// stopped returns the processes in state T or t.
func stopped() (pids []int) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if state, _, err := stat(pid); err == nil && (state == 'T' || state == 't') {
			pids = append(pids, pid)
		}
	}
	return pids
}

// parent returns the parent's PID, or 0 if it is not known.
func parent(pid int) int {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:]) // see stat
	if len(fields) < 2 {
		return 0
	}
	n, _ := strconv.Atoi(string(fields[1]))
	return n
}

// socketsAt returns the sockets of a local port, named as the links of /proc/PID/fd name them.
func socketsAt(port int) map[string]bool {
	out := make(map[string]bool)
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		b, _ := os.ReadFile(table) // without IPv6, the second table does not exist
		for line := range strings.Lines(string(b)) {
			const local, inode = 1, 9
			f := strings.Fields(line)
			if len(f) > inode && strings.HasSuffix(f[local], fmt.Sprintf(":%04X", port)) {
				out["socket:["+f[inode]+"]"] = true
			}
		}
	}
	return out
}
