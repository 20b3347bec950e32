//go:build unix && !linux

package hostlock

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// sharedDir is the directory for the lock's file.
func sharedDir() string { return os.TempDir() }

// openShared opens the lock's file for all users of the host; a link in its place
// is refused.
func openShared(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o666)
	if err == nil {
		_ = f.Chmod(0o666) // the umask may have taken it; only the file's owner can
	}
	return f, err
}

// tryLock locks the file until it is closed; errHeld: another one has.
func tryLock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errHeld
	}
	return err
}
