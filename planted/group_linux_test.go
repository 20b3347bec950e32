package planted

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// group is a blkio cgroup of version 1 that this process is in.
type group struct {
	dir  string
	home string // the cgroup that the process was in before
}

const groupName = "filewise-planted"

// newGroup makes the cgroup, moves this process there, and back when the test ends.
func newGroup(t *testing.T) *group {
	t.Helper()
	home, err := blkioHome()
	if err != nil {
		unable(t, "%v", err)
	}
	g := &group{dir: filepath.Join(home, groupName), home: home}
	if err := os.Mkdir(g.dir, 0o755); err != nil {
		unable(t, "no cgroup can be made: %v", err)
	}
	if err := moveTo(g.dir, os.Getpid()); err != nil {
		unable(t, "no process can be moved into a cgroup: %v", err)
	}
	return g // sweep moves the process back
}

// throttle limits writes to a device, in bytes per second; 0: no limit.
func (g *group) throttle(t *testing.T, loop string, speed int64) {
	t.Helper()
	number, err := os.ReadFile(filepath.Join("/sys/block", filepath.Base(loop), "dev"))
	if err != nil {
		t.Fatal(err)
	}
	line := fmt.Sprintf("%s %d", strings.TrimSpace(string(number)), speed)
	if err := os.WriteFile(filepath.Join(g.dir, "blkio.throttle.write_bps_device"), []byte(line), 0); err != nil {
		unable(t, "%s cannot be throttled: %v", loop, err)
	}
}

// moveTo moves a process, all threads of it, into a cgroup.
func moveTo(group string, pid int) error {
	return os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0)
}

// blkioHome is the directory of this process's blkio cgroup; the test's own one is
// made in there.
func blkioHome() (string, error) {
	mounts, err := mountPoints()
	if err != nil {
		return "", err
	}
	for _, m := range mounts {
		if m.kind != "cgroup" || !m.has("blkio") {
			continue
		}
		text, err := os.ReadFile("/proc/self/cgroup")
		if err != nil {
			return "", err
		}
		for line := range strings.Lines(string(text)) { // 7:blkio:/path
			part := strings.SplitN(strings.TrimSpace(line), ":", 3)
			if len(part) != 3 || part[1] != "blkio" {
				continue
			}
			home := filepath.Join(m.dir, part[2])
			if filepath.Base(home) == groupName { // one that was killed started this one
				home = filepath.Dir(home)
			}
			if _, err := os.Stat(home); err == nil {
				return home, nil
			}
		}
		return m.dir, nil // in a container, whose path there is not the host's
	}
	return "", errors.New("there is no block-I/O cgroup of version 1 (/sys/fs/cgroup/blkio)")
}

// leaveGroup moves whoever is in the tests' cgroup back, and removes it.
func leaveGroup() error {
	home, err := blkioHome()
	if err != nil {
		return nil //nolint:nilerr // then there never was one
	}
	dir := filepath.Join(home, groupName)
	text, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var errs []error
	for _, pid := range strings.Fields(string(text)) {
		n, err := strconv.Atoi(pid)
		if err == nil {
			err = moveTo(home, n)
		}
		if err != nil && processExists(pid) {
			errs = append(errs, err)
		}
	}
	return errors.Join(append(errs, patiently(func() error { return os.Remove(dir) }))...)
}

func processExists(pid string) bool {
	_, err := os.Stat(filepath.Join("/proc", pid))
	return err == nil
}
