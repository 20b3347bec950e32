//go:build unix

package filesystem

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Lock locks an open file until this process closes it or ends. The kernel then releases the lock, however the process
// ends. The error is ErrLocked if another process has the lock. It wraps errors.ErrUnsupported if the file system has
// no locks.
func Lock(f *os.File) error { return flock(f, unix.LOCK_EX) }

// Locked reports whether another open file holds the lock on f.
func Locked(f *os.File) (bool, error) {
	err := flock(f, unix.LOCK_SH)
	if errors.Is(err, ErrLocked) {
		return true, nil
	}
	return false, err
}

func flock(f *os.File, how int) error {
	for {
		switch err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB); {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return ErrLocked
		case errors.Is(err, unix.ENOLCK) || errors.Is(err, unix.EINVAL):
			return errors.Join(errors.ErrUnsupported, err)
		default:
			return err
		}
	}
}
