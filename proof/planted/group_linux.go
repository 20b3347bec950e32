package planted

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// group is a cgroup with this process in it, in which devices can be throttled.
type group struct {
	place
	dir string
}

// place describes where the tests' cgroup is made: in the hierarchy of the block-I/O controller of version 1 (blkio),
// or in the one hierarchy of version 2 (io).
type place struct {
	home    string // the group of this process before the move
	parent  string // parent of the tests' cgroup
	unified bool   // version 2
}

func (p place) group() string { return filepath.Join(p.parent, Name) }

// newGroup makes the cgroup, and moves this process into it. sweep moves the process back.
func newGroup() (*group, error) {
	p, err := findPlace()
	if err != nil {
		return nil, unable("%w", err)
	}
	if err := p.enable(); err != nil {
		return nil, unable("the io controller of %s cannot be enabled: %w", p.parent, err)
	}
	g := &group{place: p, dir: p.group()}
	if err := os.Mkdir(g.dir, 0o755); err != nil {
		return nil, unable("no cgroup can be made: %w", err)
	}
	if err := moveTo(g.dir, os.Getpid()); err != nil {
		return nil, unable("no process can be moved into a cgroup: %w", err)
	}
	cameFrom = p.home
	return g, nil
}

// cameFrom is the cgroup of this process before it was moved. It is empty if the process was not moved.
var cameFrom string

// throttle limits a device's writes and, if the speed is for reads too, its reads.
func (g *group) throttle(loop string, s Speed) error {
	number, err := os.ReadFile(filepath.Join("/sys/block", filepath.Base(loop), "dev"))
	if err != nil {
		return err
	}
	for file, line := range g.limits(strings.TrimSpace(string(number)), s) {
		if err := os.WriteFile(filepath.Join(g.dir, file), []byte(line), 0); err != nil {
			return unable("%s cannot be throttled: %w", loop, err)
		}
	}
	return nil
}

// limits returns the texts to write into a cgroup's files (Linux's Documentation/admin-guide:
// cgroup-v1/blkio-controller.rst, cgroup-v2.rst).
func (p place) limits(device string, s Speed) map[string]string {
	var read Speed
	if s.Reads {
		read = s
	}
	if p.unified {
		word := func(limit int64) string {
			if limit == 0 {
				return "max"
			}
			return strconv.FormatInt(limit, 10)
		}
		return map[string]string{"io.max": fmt.Sprintf("%s rbps=%s riops=%s wbps=%s wiops=%s", device, word(read.Bytes), word(read.Requests),
			word(s.Bytes), word(s.Requests))}
	}
	return map[string]string{
		"blkio.throttle.read_bps_device":   fmt.Sprintf("%s %d", device, read.Bytes),
		"blkio.throttle.read_iops_device":  fmt.Sprintf("%s %d", device, read.Requests),
		"blkio.throttle.write_bps_device":  fmt.Sprintf("%s %d", device, s.Bytes),
		"blkio.throttle.write_iops_device": fmt.Sprintf("%s %d", device, s.Requests),
	}
}

// moveTo moves a process, all threads of it, into a cgroup.
func moveTo(group string, pid int) error {
	return os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0)
}

// findPlace finds the block-I/O controller, of version 1 first. If both hierarchies are mounted, only one has the
// controller.
func findPlace() (place, error) {
	mounts, err := mountPoints()
	if err != nil {
		return place{}, err
	}
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return place{}, err
	}
	return placeAmong(mounts, string(own))
}

func placeAmong(mounts []mount, own string) (place, error) {
	for _, m := range mounts {
		if m.kind == "cgroup" && m.has("blkio") {
			home := homeIn(m.dir, own, "blkio")
			return place{home: home, parent: home}, nil
		}
	}
	for _, m := range mounts {
		if m.kind != "cgroup2" {
			continue
		}
		if has, err := lists(filepath.Join(m.dir, "cgroup.controllers"), "io"); err == nil && has {
			// A cgroup that holds processes has no controllers below it, except for the root.
			return place{home: homeIn(m.dir, own, ""), parent: m.dir, unified: true}, nil
		}
	}
	return place{},
		errors.New("there is no cgroup that throttles block I/O: neither blkio of version 1 nor io of version 2 is below /sys/fs/cgroup")
}

// homeIn returns the directory of this process's cgroup in a hierarchy, by the lines of /proc/self/cgroup
// (7:blkio:/path; for version 2 0::/path). It never returns the tests' own cgroup.
func homeIn(root, own, controller string) string {
	for line := range strings.Lines(own) {
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(part) != 3 || !slices.Contains(strings.Split(part[1], ","), controller) {
			continue
		}
		home := filepath.Join(root, part[2])
		if filepath.Base(home) == Name { // a killed process in the group started this one
			home = filepath.Dir(home)
		}
		if _, err := os.Stat(home); err == nil {
			return home
		}
	}
	return root // in a container, whose paths differ from the host's
}

// enable makes cgroups of version 2 below the parent throttle block I/O.
func (p place) enable() error {
	if !p.unified {
		return nil
	}
	control := filepath.Join(p.parent, "cgroup.subtree_control")
	if has, err := lists(control, "io"); err != nil || has {
		return err
	}
	return os.WriteFile(control, []byte("+io"), 0)
}

func lists(path, word string) (bool, error) {
	text, err := os.ReadFile(path)
	return slices.Contains(strings.Fields(string(text)), word), err
}

// leaveGroup moves every process out of the tests' cgroup, and removes it.
func leaveGroup() error {
	p, err := findPlace()
	if err != nil {
		return nil //nolint:nilerr // then the cgroup was never made
	}
	home := p.home
	if cameFrom != "" {
		home = cameFrom
	}
	text, err := os.ReadFile(filepath.Join(p.group(), "cgroup.procs"))
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
	return errors.Join(append(errs, patiently(func() error { return os.Remove(p.group()) }))...)
}

func processExists(pid string) bool {
	_, err := os.Stat(filepath.Join("/proc", pid))
	return err == nil
}
