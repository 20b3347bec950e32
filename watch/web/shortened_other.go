//go:build !linux

package web

import "path/filepath"

// shortened returns the path to a socket in a directory; if it is too long, listening there fails, with an error.
func shortened(dir, name string) (path string, done func(), err error) {
	return filepath.Join(dir, name), func() {}, nil
}
