package machine

import (
	"path/filepath"
	"slices"
	"strings"

	"filewise"
	"filewise/internal/filesystem"
)

// Device describes the storage under a directory.
type Device struct {
	Mount Mount
	// Name is the block device as in /proc/diskstats: "sda", "nvme0n1", "dm-0". For a partition it is the whole disk. It
	// is empty if there is no device (tmpfs, overlay, network).
	Name string
	// Disks lists the disks below a composed device (LVM, RAID, encryption). For a plain device it holds Name.
	Disks []string
	// number identifies the file system if there is no block device.
	number string
}

// memoryTypes lists the file systems that keep their files in memory.
var memoryTypes = []string{"tmpfs", "ramfs", "devtmpfs", "hugetlbfs"}

// InMemory reports whether the files lie in memory.
func (d Device) InMemory() bool {
	return slices.Contains(memoryTypes, d.Mount.Type) || strings.HasPrefix(d.Name, "zram") || strings.HasPrefix(d.Name, "ram")
}

// Same reports whether two devices share a disk. Two partitions of a disk, or two logical volumes on it, count as one
// device.
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

// DeviceOf returns the storage under an existing directory.
func DeviceOf(dir string) (Device, error) { return host.deviceOf(dir) }

func (r roots) deviceOf(dir string) (Device, error) {
	abs, err := filepath.Abs(dir)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	var d Device
	if err == nil {
		d, err = r.deviceAt(abs)
	}
	if err != nil {
		return Device{}, filewise.Errorf(filewise.CodePreflight, "name an existing directory that Filewise may enter",
			"the device of %s: %w", dir, err)
	}
	return d, nil
}

// Free returns the bytes that an ordinary user can still write to dir's file system, without the part reserved for
// root.
func Free(dir string) (int64, error) {
	free, err := filesystem.Free(dir)
	if err != nil {
		return 0, filewise.Errorf(filewise.CodePreflight, "name an existing directory that Filewise may enter",
			"free space of %s: %w", dir, err)
	}
	return free, nil
}

// roots holds the directories of Linux's own files; tests have others. Other systems have none of them.
type roots struct {
	mountinfo string
	sys       string
}

var host = roots{mountinfo: "/proc/self/mountinfo", sys: "/sys"}
