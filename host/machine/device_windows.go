package machine

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/windows"
)

// deviceAt returns the storage under a directory whose path is free of links: the volume, and the disks that it lies
// on.
func (roots) deviceAt(path string) (Device, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return Device{}, err
	}
	root := make([]uint16, windows.MAX_LONG_PATH)
	if err := windows.GetVolumePathName(name, &root[0], uint32(len(root))); err != nil {
		return Device{}, fmt.Errorf("GetVolumePathName: %w", err)
	}
	d := Device{Mount: Mount{Point: windows.UTF16ToString(root)}}
	d.Mount.Source = volumeName(&root[0])
	d.number = d.Mount.Source
	if d.number == "" { // another host's share has no volume here
		d.number = d.Mount.Point
	}
	kind := make([]uint16, windows.MAX_PATH+1)
	if windows.GetVolumeInformation(&root[0], nil, 0, nil, nil, nil, &kind[0], uint32(len(kind))) == nil {
		d.Mount.Type = windows.UTF16ToString(kind)
	}
	switch windows.GetDriveType(&root[0]) {
	case windows.DRIVE_RAMDISK:
		d.Mount.Type = "ramfs"
	case windows.DRIVE_REMOTE:
		d.Mount.Type = strings.TrimSpace("remote " + d.Mount.Type)
	}
	d.Disks = disksOf(d.Mount.Source)
	d.Name = strings.Join(d.Disks, "+")
	return d, nil
}

// volumeName returns the unique name of the volume mounted at a root, or an empty text if there is none.
func volumeName(root *uint16) string {
	name := make([]uint16, 64) // \\?\Volume{GUID}\ has 49 characters
	if windows.GetVolumeNameForVolumeMountPoint(root, &name[0], uint32(len(name))) != nil {
		return ""
	}
	return windows.UTF16ToString(name)
}

// ioctlDiskExtents is IOCTL_VOLUME_GET_VOLUME_DISK_EXTENTS of winioctl.h.
const ioctlDiskExtents = 0x560000

// disksOf returns a volume's disks, sorted. It returns none if Windows does not report them.
func disksOf(volume string) []string {
	if volume == "" {
		return nil
	}
	name, err := windows.UTF16PtrFromString(strings.TrimSuffix(volume, `\`))
	if err != nil {
		return nil
	}
	h, err := windows.CreateFile(name, 0, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE, nil, windows.OPEN_EXISTING, 0, 0)
	if err != nil {
		return nil
	}
	defer windows.CloseHandle(h) //nolint:errcheck // nothing was written by it
	// VOLUME_DISK_EXTENTS holds a count, then each extent's disk number, beginning and length, all aligned to 8 bytes.
	out := make([]byte, 8+32*24)
	var n uint32
	if windows.DeviceIoControl(h, ioctlDiskExtents, nil, 0, &out[0], uint32(len(out)), &n, nil) != nil {
		return nil
	}
	var disks []string
	for at := 8; at+24 <= int(n); at += 24 {
		disks = append(disks, fmt.Sprintf("PhysicalDrive%d", binary.LittleEndian.Uint32(out[at:])))
	}
	slices.Sort(disks)
	return slices.Compact(disks)
}
