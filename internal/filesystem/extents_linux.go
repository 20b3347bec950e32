package filesystem

import (
	"errors"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Extents returns the number of contiguous pieces of storage that hold a regular file. ok is false if the file system
// does not report it. Since Extents closes the file, the process loses its own locks on it (fcntl_locking(2)): it must
// not be called for files that this process has locked.
func Extents(path string) (n int, ok bool) {
	f, err := OpenItself(path)
	if err != nil {
		return 0, false
	}
	defer f.Close()
	// If the request has no space for extents, FS_IOC_FIEMAP only counts them (Documentation/filesystems/fiemap.rst).
	const count = 0xC020660B
	m := struct {
		start, length                  uint64
		flags, mapped, places, reserve uint32
	}{length: ^uint64(0)}
	for {
		_, _, err := unix.Syscall(unix.SYS_IOCTL, f.Fd(), count, uintptr(unsafe.Pointer(&m)))
		if !errors.Is(err, unix.EINTR) {
			return int(m.mapped), err == 0
		}
	}
}
