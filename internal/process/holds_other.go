//go:build !linux

package process

import (
	"errors"
	"os"
)

// HasOpen is unsupported: only Linux reports whether a process has a file open.
func HasOpen(int, os.FileInfo) (bool, error) { return false, errors.ErrUnsupported }
