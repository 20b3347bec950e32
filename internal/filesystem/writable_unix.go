//go:build unix

package filesystem

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Writable reports whether something can be made in a directory, or in the nearest one above it that is there; it
// makes nothing. The error names the directory, and wraps the system's.
func Writable(dir string) error {
	for {
		err := unix.Access(dir, unix.W_OK|unix.X_OK)
		switch above := filepath.Dir(dir); {
		case err == nil:
			return nil
		case !errors.Is(err, fs.ErrNotExist) || above == dir:
			return fmt.Errorf("nothing can be made in %s: %w", dir, err)
		default:
			dir = above
		}
	}
}
