package machine

import (
	"fmt"
	"regexp"

	"golang.org/x/sys/unix"
)

// slice matches the disk in the name of a partition or volume: disk3 in /dev/disk3s1s1.
var slice = regexp.MustCompile(`^/dev/(disk\d+)(s\d+)*$`)

// deviceAt returns the storage under a directory whose path is free of links. The volumes of an APFS container share
// its disk.
func (roots) deviceAt(path string) (Device, error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(path, &fs); err != nil {
		return Device{}, fmt.Errorf("statfs: %w", err)
	}
	text := unix.ByteSliceToString
	m := Mount{Number: fmt.Sprintf("%d:%d", fs.Fsid.Val[0], fs.Fsid.Val[1]),
		Point: text(fs.Mntonname[:]), Type: text(fs.Fstypename[:]), Source: text(fs.Mntfromname[:])}
	d := Device{Mount: m, number: m.Number}
	if disk := slice.FindStringSubmatch(m.Source); disk != nil {
		d.Name, d.Disks = disk[1], []string{disk[1]}
	}
	return d, nil
}
