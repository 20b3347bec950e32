//go:build !linux

package process

import (
	"errors"
	"os"
)

// HasOpen would report whether a process has that file open: only Linux does.
func HasOpen(int, os.FileInfo) (bool, error) { return false, errors.ErrUnsupported }
