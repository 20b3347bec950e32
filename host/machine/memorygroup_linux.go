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

// MemoryLimits puts each process into its own cgroup, which limits the memory of the process and its children. The
// system's cache of the files that they read and write counts too.
type MemoryLimits struct {
	parent memoryParent
	bytes  int64

	mu   sync.Mutex
	dirs []string // of the groups
}

const memoryGroupName = "filewise-memory-"

// LimitMemory finds a place for cgroups. It takes version 1 if that has the memory controller, otherwise version 2. In
// version 2 it takes Filewise's own group, or the nearest group above that passes the controller on (Linux's
// Documentation/admin-guide: cgroup-v1/memory.rst, cgroup-v2.rst). The error has CodePreflight if there is no such
// group, or Filewise may not make groups in it.
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

// memoryParent is a cgroup directory in which limited groups can be made.
type memoryParent struct {
	dir     string
	unified bool // version 2
}

// memoryParents returns the groups to try, the nearest to the process first.
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

// groupBelow returns the directory of the process's own group in a hierarchy, by the lines of /proc/self/cgroup
// (4:memory:/path; for version 2 0::/path). In a container, whose paths differ from the host's, it is the hierarchy's
// root.
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

// group makes a group with a memory limit below the parent.
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
	if p.unified { // it limits swap separately; version 1 counts memory and swap together
		text = "0"
	}
	_ = os.WriteFile(filepath.Join(dir, swap), []byte(text), 0) // fails if swap is not accounted for
	return dir, nil
}

// sweep removes the groups of runs that have ended.
func (p memoryParent) sweep() {
	all, _ := filepath.Glob(filepath.Join(p.dir, memoryGroupName+"*"))
	for _, dir := range all {
		pid, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), memoryGroupName), "-")
		if !isDir(filepath.Join("/proc", pid)) {
			_ = os.Remove(dir) // one with processes stays: they end with their Filewise
		}
	}
}

// Add limits a process, with everything it has started and will start.
func (l *MemoryLimits) Add(pid int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	// A PID can come again while its old group still exists.
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

// move puts a process into a group, with its children: children started before the move are in the process's old group.
func move(pid int32, dir string) error {
	return eachOf(pid, func(pid int32) error {
		return os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(int(pid))), 0)
	})
}

// eachOf applies do to a process, then to everything that it has started. Some of these may have ended.
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

// Close removes the groups, whose processes must have ended.
func (l *MemoryLimits) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	const patience = 5 * time.Second // a process that was ended stays in its group until it is reaped
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
