package postgres

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// endProcesses ends what a private server's main process has left behind and
// waits until it is gone: processes of the same program that work in the server's
// own data directory. A server that was ended leaves none; one that was killed
// leaves some for a moment, which could still write.
func endProcesses(program, dataDir string) {
	program, dataDir = real(program), real(dataDir)
	for limit := time.Now().Add(quitPatience); time.Now().Before(limit); time.Sleep(2 * time.Millisecond) {
		left := processesOf(program, dataDir)
		if len(left) == 0 {
			return
		}
		for _, pid := range left {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may just have ended
		}
	}
}

func processesOf(program, dataDir string) []int {
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
		if cwd, err := os.Readlink("/proc/" + e.Name() + "/cwd"); err != nil || cwd != dataDir {
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

// dropSegment has the kernel remove the server's one System V shared memory
// segment (56 bytes, by which it knows that its data directory is in use) when the
// last of its processes ends. Left to the server, it would stay for good after a
// kill. Where that is not permitted it stays.
func dropSegment(dataDir string) {
	b, err := os.ReadFile(filepath.Join(dataDir, "postmaster.pid"))
	if err != nil {
		return
	}
	lines := bytes.Split(b, []byte("\n"))
	if len(lines) < 7 {
		return
	}
	fields := strings.Fields(string(lines[6])) // key and id (src/include/utils/pidfile.h)
	if len(fields) != 2 {
		return
	}
	if id, err := strconv.Atoi(fields[1]); err == nil {
		_, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil)
	}
}
