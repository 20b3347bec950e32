package sqlite

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// preallocate gives a file its full size, with the blocks for it.
func preallocate(f *os.File, size int64) error {
	for {
		err := unix.Fallocate(int(f.Fd()), 0, 0, size)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EOPNOTSUPP):
			return writeZeros(f, size)
		default:
			return err
		}
	}
}
