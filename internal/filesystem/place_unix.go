//go:build unix

package filesystem

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// PlaceOf returns a directory's place.
func PlaceOf(dir string) (Place, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return Place{}, err
	}
	var p Place
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		p.Device, p.Inode = uint64(s.Dev), s.Ino
	}
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err == nil && s.Fsid != (unix.Fsid{}) {
		p.System = fmt.Sprint(s.Fsid.Val)
	}
	return p, nil
}

// ReadOnly reports whether the file system of a directory is mounted read-only.
func ReadOnly(dir string) bool {
	var s unix.Statfs_t
	const readOnly = 1 // ST_RDONLY of Linux, MNT_RDONLY of the others
	return unix.Statfs(dir, &s) == nil && s.Flags&readOnly != 0
}
