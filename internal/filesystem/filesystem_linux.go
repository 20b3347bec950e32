package filesystem

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Preallocate gives a file its full size and the storage for it, without writing. The error wraps
// errors.ErrUnsupported if the file system cannot do that.
func Preallocate(f *os.File, size int64) error {
	for {
		if err := unix.Fallocate(int(f.Fd()), 0, 0, size); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// SyncAround syncs the whole file system of a directory to the storage. For a thousand small files this takes one
// call.
func SyncAround(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.Syncfs(int(f.Fd()))
}
