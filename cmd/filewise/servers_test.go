package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"filewise/internal/process"
)

// serverProcess is a running process that works on files of a scratch directory.
type serverProcess struct {
	id      process.Identity
	creates bool // its database's files, and will not answer
	sockets int  // open
}

// serversBelow finds the processes that name a scratch directory below dir in
// their command line, or work in one. It trusts no mark or registration of
// Filewise's.
func serversBelow(dir string) []serverProcess {
	var found []serverProcess
	scratch := filepath.Join(dir, "filewise-")
	for _, proc := range glob("/proc/[0-9]*") {
		line, _ := os.ReadFile(filepath.Join(proc, "cmdline")) // it may just have ended
		cwd, _ := os.Readlink(filepath.Join(proc, "cwd"))
		if !strings.Contains(string(line), scratch) && !strings.HasPrefix(cwd, scratch) {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(proc))
		id, err := process.Of(pid)
		if err != nil {
			continue // it has ended
		}
		s := serverProcess{id: id, creates: strings.Contains(string(line), "--bootstrap")}
		for _, fd := range glob(filepath.Join(proc, "fd", "*")) {
			if to, _ := os.Readlink(fd); strings.HasPrefix(to, "socket:") {
				s.sockets++
			}
		}
		found = append(found, s)
	}
	return found
}

func glob(pattern string) []string {
	paths, err := filepath.Glob(pattern)
	if err != nil {
		panic(err) // a malformed pattern
	}
	return paths
}

// whyNoServer is why no managed server can be tested here; empty: it can.
func whyNoServer() string {
	if runtime.GOOS != "linux" {
		return "only Linux ends a server with whoever started it"
	}
	for _, program := range []string{"mariadbd", "mariadb", "mariadb-install-db"} {
		if _, err := exec.LookPath(program); err != nil {
			return err.Error() + "; apt-get install mariadb-server"
		}
	}
	return ""
}

// needServer skips a test with servers where there are none, and fails it in CI:
// there a skipped test would be one that nobody runs.
func needServer(t *testing.T) {
	t.Helper()
	switch why := whyNoServer(); {
	case why != "" && os.Getenv("CI") == "true":
		t.Fatalf("the tests with MariaDB did not run: %s", why)
	case why != "":
		t.Skipf("NO MARIADB SERVER: %s", why)
	}
}
