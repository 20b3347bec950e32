//go:build unix && !linux

package filesystem

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Preallocate is unsupported.
func Preallocate(*os.File, int64) error { return errors.ErrUnsupported }

// SyncAround syncs all file systems of this machine to the storage.
func SyncAround(string) error { return unix.Sync() }
