package machine

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"filewise"
)

// Device is the storage under a directory.
type Device struct {
	Mount Mount
	// Name is the block device as in /proc/diskstats, the whole disk for a
	// partition: "sda", "nvme0n1", "dm-0". Empty where there is none of its own
	// (tmpfs, overlay, network).
	Name string
	// Disks are the disks that a composed device (LVM, RAID, encryption) lies on;
	// Name itself for a plain one.
	Disks []string
	// number identifies the file system where there is no block device.
	number string
}

// memoryTypes are the file systems that keep their files in memory.
var memoryTypes = []string{"tmpfs", "ramfs", "devtmpfs", "hugetlbfs"}

// InMemory says whether the files lie in memory.
func (d Device) InMemory() bool {
	return slices.Contains(memoryTypes, d.Mount.Type) || strings.HasPrefix(d.Name, "zram") || strings.HasPrefix(d.Name, "ram")
}

// Same says whether two devices share a disk: two partitions of a disk, or two
// logical volumes on it, are one device.
func (d Device) Same(o Device) bool {
	if d.number == o.number {
		return true
	}
	return slices.ContainsFunc(d.Disks, func(n string) bool { return slices.Contains(o.Disks, n) })
}

func (d Device) String() string {
	switch {
	case len(d.Disks) > 0 && !slices.Equal(d.Disks, []string{d.Name}):
		return d.Name + " (on " + strings.Join(d.Disks, ", ") + ")"
	case d.Name != "":
		return d.Name
	}
	return d.Mount.Type
}

// DeviceOf finds the storage under an existing directory.
func DeviceOf(dir string) (Device, error) { return host.deviceOf(dir) }

// InMemory says whether a directory lies in memory, so that no storage would be
// measured.
func InMemory(dir string) (bool, error) {
	d, err := DeviceOf(dir)
	return d.InMemory(), err
}

// Free is the space in bytes that an ordinary user may still write to the file
// system of dir, without what is reserved for root.
func Free(dir string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, filewise.Errorf(filewise.CodePreflight, "name an existing directory that Filewise may enter",
			"free space of %s: %w", dir, err)
	}
	return int64(s.Bavail) * int64(s.Bsize), nil
}

// roots are where the kernel's own files are found; tests have others.
type roots struct {
	mountinfo string
	sys       string
}

var host = roots{mountinfo: "/proc/self/mountinfo", sys: "/sys"}

func (r roots) deviceOf(dir string) (Device, error) {
	fail := func(err error) (Device, error) {
		return Device{}, filewise.Errorf(filewise.CodePreflight, "name an existing directory that Filewise may enter",
			"the device of %s: %w", dir, err)
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return fail(err)
	}
	path, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return fail(err)
	}
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return fail(err)
	}
	number := deviceNumber(uint64(st.Dev)) // its type differs by platform
	text, err := os.ReadFile(r.mountinfo)
	if err != nil {
		return fail(err)
	}
	m, _ := MountOf(ParseMounts(string(text)), path, number)
	d := Device{Mount: m, number: number}
	d.Name = r.blockDevice(number, m.Source)
	if d.Name != "" {
		d.Disks = r.disks(d.Name)
	}
	return d, nil
}

func deviceNumber(dev uint64) string {
	return fmt.Sprintf("%d:%d", unix.Major(dev), unix.Minor(dev))
}

// blockDevice is the whole disk with the number, or, where the file system has a
// number of its own (btrfs, zfs), that of the mount's source; empty: none.
func (r roots) blockDevice(number, source string) string {
	if name := r.byNumber(number); name != "" {
		return name
	}
	var st unix.Stat_t
	if !strings.HasPrefix(source, "/dev/") || unix.Stat(source, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFBLK {
		return ""
	}
	return r.byNumber(deviceNumber(uint64(st.Rdev)))
}

func (r roots) byNumber(number string) string {
	path, err := filepath.EvalSymlinks(filepath.Join(r.sys, "dev/block", number))
	if err != nil {
		return ""
	}
	if _, err := os.Stat(filepath.Join(path, "partition")); err == nil {
		path = filepath.Dir(path)
	}
	return filepath.Base(path)
}

// maxDepth bounds the layers (encryption on LVM on RAID …) that are followed.
const maxDepth = 8

// disks resolves a composed device to the disks at its bottom, sorted.
func (r roots) disks(name string) []string {
	found := map[string]bool{}
	r.collect(name, maxDepth, found)
	out := make([]string, 0, len(found))
	for n := range found {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

func (r roots) collect(name string, depth int, found map[string]bool) {
	dir := filepath.Join(r.sys, "class/block", name)
	slaves, _ := os.ReadDir(filepath.Join(dir, "slaves"))
	if len(slaves) == 0 || depth == 0 {
		found[r.whole(name)] = true
		return
	}
	for _, s := range slaves {
		r.collect(s.Name(), depth-1, found)
	}
}

// whole is the disk of a partition, by name.
func (r roots) whole(name string) string {
	path, err := filepath.EvalSymlinks(filepath.Join(r.sys, "class/block", name))
	if err != nil {
		return name
	}
	if _, err := os.Stat(filepath.Join(path, "partition")); err == nil {
		return filepath.Base(filepath.Dir(path))
	}
	return name
}
