//go:build unix

package filesystem

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Writable returns an error if files cannot be made in a directory, or in its nearest existing parent. It makes
// nothing. The error names the directory, and wraps the system's error.
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
