package web

import (
	"fmt"
	"os"
	"path/filepath"
)

// socketPath is the longest path that a socket's address holds (unix(7)).
const socketPath = 107

// shortened returns a path to a socket in a directory, by the directory's descriptor if its own is too long for a
// socket's address. done is called after use.
func shortened(dir, name string) (path string, done func(), err error) {
	if path = filepath.Join(dir, name); len(path) <= socketPath {
		return path, func() {}, nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", d.Fd(), name), func() { _ = d.Close() }, nil
}
