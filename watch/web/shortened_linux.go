package web

import (
	"fmt"
	"os"
	"path/filepath"
)

// socketPath is the length of the longest path in a socket's address (unix(7)).
const socketPath = 107

// shortened returns the path of a socket in a directory. If the path is too long for a socket's address, it goes
// through a descriptor of the directory. Call done after use.
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
