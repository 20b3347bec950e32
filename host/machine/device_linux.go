package machine

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// deviceAt returns the storage under a directory whose path is free of links.
func (r roots) deviceAt(path string) (Device, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return Device{}, err
	}
	number := deviceNumber(uint64(st.Dev)) // its type differs by architecture
	text, err := os.ReadFile(r.mountinfo)
	if err != nil {
		return Device{}, err
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

// blockDevice returns the whole disk with this number. If the file system has its own number (btrfs, zfs), it returns
// the disk of the mount's source. It is empty if there is none.
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

// maxDepth limits the layers (encryption on LVM on RAID …) that are followed.
const maxDepth = 8

// disks returns the disks at the bottom of a composed device, sorted.
func (r roots) disks(name string) []string {
	found := map[string]bool{}
	r.collect(name, maxDepth, found)
	return slices.Sorted(maps.Keys(found))
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

// whole returns the name of a partition's disk.
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
