package filesystem

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// Lock locks an open file until this process closes it or ends. The error is ErrLocked if another process has the lock.
func Lock(f *os.File) error { return lock(f, windows.LOCKFILE_EXCLUSIVE_LOCK) }

// Locked reports whether another open file holds the lock on f.
func Locked(f *os.File) (bool, error) {
	err := lock(f, 0)
	if errors.Is(err, ErrLocked) {
		return true, nil
	}
	return false, err
}

// lock locks a byte far behind the file's text, since no other process may read a locked byte.
func lock(f *os.File, how uint32) error {
	at := windows.Overlapped{OffsetHigh: 1 << 30}
	err := windows.LockFileEx(windows.Handle(f.Fd()), how|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return ErrLocked
	}
	return err
}
