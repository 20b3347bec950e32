package machine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/shirou/gopsutil/v4/process"

	"filewise"
)

// MemoryLimits puts each process into a cgroup of its own. There it and its children have so much memory and no more,
// including the system's cache of the files that they read and write.
type MemoryLimits struct {
	parent memoryParent
	bytes  int64

	mu   sync.Mutex
	dirs []string // of the groups
}

const memoryGroupName = "filewise-memory-"

// LimitMemory finds a place for groups: in version 1 of cgroups if that has the memory controller, else in version 2.
// There it is within Filewise's own group or the nearest above it that hands the controller on (Linux's
// Documentation/admin-guide: cgroup-v1/memory.rst, cgroup-v2.rst). The error has code preflight: there is no such
// group, or Filewise may not make one.
func LimitMemory(bytes int64) (*MemoryLimits, error) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, noMemoryGroup(err)
	}
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, noMemoryGroup(err)
	}
	var errs []error
	for _, p := range memoryParents(ParseMounts(string(mounts)), string(own)) {
		p.sweep()
		dir, err := p.group("try", bytes)
		if err == nil {
			err = os.Remove(dir)
		}
		if err == nil {
			return &MemoryLimits{parent: p, bytes: bytes}, nil
		}
		errs = append(errs, err)
	}
	if len(errs) == 0 {
		errs = []error{errors.New("no cgroup hierarchy with the memory controller is mounted")}
	}
	return nil, noMemoryGroup(errs[len(errs)-1])
}

func noMemoryGroup(err error) error {
	return filewise.Errorf(filewise.CodePreflight,
		"run as root, or in a group whose memory controller is delegated (systemd-run --user --scope -p Delegate=yes filewise …), or leave "+
			"--memory out", "memory cannot be limited here: %w", err)
}

// memoryParent is a directory of cgroups below which one can be limited.
type memoryParent struct {
	dir     string
	unified bool // version 2
}

// memoryParents returns the groups to try, nearest to the process first.
func memoryParents(mounts []Mount, own string) []memoryParent {
	var out []memoryParent
	for _, m := range mounts {
		if m.Type == "cgroup" && slices.Contains(m.Options, "memory") {
			out = append(out, memoryParent{dir: groupBelow(m.Point, own, "memory")}, memoryParent{dir: m.Point})
		}
	}
	for _, m := range mounts {
		if m.Type != "cgroup2" {
			continue
		}
		for dir := groupBelow(m.Point, own, ""); below(dir, m.Point); dir = filepath.Dir(dir) {
			if handed, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control")); err == nil &&
				slices.Contains(strings.Fields(string(handed)), "memory") {
				out = append(out, memoryParent{dir, true})
			}
		}
	}
	return out
}

// groupBelow returns the directory of the process's own group of a hierarchy, by the lines of /proc/self/cgroup
// (4:memory:/path; of version 2 0::/path); its root in a container, whose path there is not the host's.
func groupBelow(root, own, controller string) string {
	for line := range strings.Lines(own) {
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(part) == 3 && slices.Contains(strings.Split(part[1], ","), controller) {
			if dir := filepath.Join(root, part[2]); isDir(dir) {
				return dir
			}
		}
	}
	return root
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// group makes a limited group below the parent.
func (p memoryParent) group(name string, bytes int64) (dir string, err error) {
	dir = filepath.Join(p.dir, fmt.Sprintf("%s%d-%s", memoryGroupName, os.Getpid(), name))
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	limit, swap := "memory.limit_in_bytes", "memory.memsw.limit_in_bytes"
	text := strconv.FormatInt(bytes, 10)
	if p.unified {
		limit, swap = "memory.max", "memory.swap.max"
	}
	if err := os.WriteFile(filepath.Join(dir, limit), []byte(text), 0); err != nil {
		return "", errors.Join(err, os.Remove(dir))
	}
	if p.unified { // its limit of swap is one of its own; version 1 counts memory and swap together
		text = "0"
	}
	_ = os.WriteFile(filepath.Join(dir, swap), []byte(text), 0) // if swap is not accounted for there is none
	return dir, nil
}

// sweep removes the groups of runs that are gone.
func (p memoryParent) sweep() {
	all, _ := filepath.Glob(filepath.Join(p.dir, memoryGroupName+"*"))
	for _, dir := range all {
		pid, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), memoryGroupName), "-")
		if !isDir(filepath.Join("/proc", pid)) {
			_ = os.Remove(dir) // one with processes stays: they end with their Filewise
		}
	}
}

// Add limits a process, with what it has started and starts from then on.
func (l *MemoryLimits) Add(pid int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	// The number of a process may come again, and its group is there still.
	dir, err := l.parent.group(fmt.Sprintf("%d-%d", len(l.dirs), pid), l.bytes)
	if err == nil {
		l.dirs = append(l.dirs, dir)
		err = move(int32(pid), dir)
	}
	if err != nil {
		return fmt.Errorf("limit the memory of process %d: %w", pid, err)
	}
	return nil
}

// move puts a process into a group, with its children: those that it had started before
// it was moved are in the group that it was in.
func move(pid int32, dir string) error {
	return eachOf(pid, func(pid int32) error {
		return os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(int(pid))), 0)
	})
}

// eachOf does something to a process, then to all that it has started, of which some may have ended.
func eachOf(pid int32, do func(pid int32) error) error {
	if err := do(pid); err != nil {
		return err
	}
	children, err := (&process.Process{Pid: pid}).Children()
	if err != nil {
		return err
	}
	for _, child := range children {
		if err := eachOf(child.Pid, do); err != nil && !errors.Is(err, syscall.ESRCH) {
			return err
		}
	}
	return nil
}

// Close removes the groups, from which processes have gone.
func (l *MemoryLimits) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	const patience = 5 * time.Second // a process that was ended is in its group until it is reaped
	end := time.Now().Add(patience)
	for _, dir := range l.dirs {
		for err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist); err = os.Remove(dir) {
			if time.Now().After(end) {
				return fmt.Errorf("remove the group that limited memory: %w", err)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	return nil
}
