//go:build !unix

package filesystem

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Writable makes and removes a file to find out whether files can be made in a directory, or in its nearest existing
// parent: neither lists of rights nor write-protected volumes show it. The error names the directory, and wraps the
// system's error.
func Writable(dir string) error {
	for {
		f, err := os.CreateTemp(dir, ".filewise-tried-")
		switch above := filepath.Dir(dir); {
		case err == nil:
			return errors.Join(f.Close(), Insist(func() error { return os.Remove(f.Name()) }))
		case !errors.Is(err, fs.ErrNotExist) || above == dir:
			return fmt.Errorf("nothing can be made in %s: %w", dir, err)
		default:
			dir = above
		}
	}
}
