package server

import (
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// EndProcesses ends the processes that a managed server's main process has left behind, and waits until they are gone.
// They run the same program and work in the server's directory. A server that was shut down leaves none. One that was
// killed leaves some for a moment, and they could still write.
func EndProcesses(program, dir string) {
	program, dir = real(program), real(dir)
	for limit := time.Now().Add(quitPatience); time.Now().Before(limit); time.Sleep(2 * time.Millisecond) {
		left := ProcessesOf(program, dir)
		if len(left) == 0 {
			return
		}
		for _, pid := range left {
			_ = syscall.Kill(pid, syscall.SIGKILL) // the process may just have ended
		}
	}
}

// ProcessesOf returns the processes that run a program, given by its real path, and work in a directory.
func ProcessesOf(program, dir string) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var all []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if cwd, err := os.Readlink("/proc/" + e.Name() + "/cwd"); err != nil || cwd != dir {
			continue
		}
		if exe, err := os.Readlink("/proc/" + e.Name() + "/exe"); err == nil && exe == program {
			all = append(all, pid)
		}
	}
	return all
}

func real(path string) string {
	if r, err := filepath.EvalSymlinks(path); err == nil {
		return r
	}
	return path
}
