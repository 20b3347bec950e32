//go:build unix && !linux

package hostlock

import (
	"os"

	"golang.org/x/sys/unix"
)

// sharedDir returns the directory for the lock's file.
func sharedDir() string { return os.TempDir() }

// openShared opens the lock's file for all users of the host. It refuses a link in its place.
func openShared(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o666)
	if err == nil {
		_ = f.Chmod(0o666) // the umask may have removed rights; only the file's owner can restore them
	}
	return f, err
}
