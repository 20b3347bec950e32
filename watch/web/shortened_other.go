//go:build !linux

package web

import "path/filepath"

// shortened is the path to a socket in a directory; if it is too long, listening there fails, and says so.
func shortened(dir, name string) (path string, done func(), err error) {
	return filepath.Join(dir, name), func() {}, nil
}
