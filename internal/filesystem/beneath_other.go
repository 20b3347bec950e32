//go:build !linux

package filesystem

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// settle returns the path that a path leads to. It refuses a path that is itself a link by another user.
func settle(path string) (string, *os.File, error) {
	if link, err := os.Lstat(path); err == nil && link.Mode()&fs.ModeSymlink != 0 && !trusted(link) {
		return "", nil, errors.New("it is a link that another user has made")
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return path, nil, nil
}
