// Package filesystem has Filewise's operations on file systems beyond package os, on each platform by its own means.
// What a platform does not return is absent (ok is false) or an error that wraps errors.ErrUnsupported.
package filesystem

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"filewise/internal/fault"
)

// ErrLocked: another process, or another open file of this one, holds the lock.
var ErrLocked = errors.New("it is locked")

// LockPatiently locks a file that no process keeps locked but whose lock others may be looking at, which takes them
// moments.
func LockPatiently(f *os.File) error {
	for end := time.Now().Add(time.Second); ; time.Sleep(time.Millisecond) {
		if err := Lock(f); !errors.Is(err, ErrLocked) || time.Now().After(end) {
			return err
		}
	}
}

// heldPatience is the time for which Insist tries.
const heldPatience = 5 * time.Second

// Insist does again, for some seconds, what fails because another program has a file open: virus
// scanners and backups of Windows open each new file for a moment.
func Insist(do func() error) error {
	for end := time.Now().Add(heldPatience); ; time.Sleep(20 * time.Millisecond) {
		if err := do(); !fault.HeldOpen(err) || time.Now().After(end) {
			return err
		}
	}
}

// MkdirPrivate makes a directory, and those above it, that are not there, and leaves a new one to this user alone.
func MkdirPrivate(dir string) error {
	_, err := os.Lstat(dir)
	isNew := errors.Is(err, fs.ErrNotExist)
	if err := os.MkdirAll(dir, 0o700); err != nil || !isNew {
		return err
	}
	return MakePrivate(dir)
}

// Place distinguishes a directory from another one that is later found under its path, as an empty mount point from
// the volume that was mounted there.
type Place struct {
	Device uint64 `json:"device,omitempty"` // st_dev; another mount of a volume may have another
	Inode  uint64 `json:"inode,omitempty"`
	System string `json:"system,omitempty"` // f_fsid of statfs(2), which many file systems keep; on Windows the volume's name
}

// Same reports whether both are one directory, as far as is known.
func (p Place) Same(q Place) bool {
	if p == (Place{}) || q == (Place{}) {
		return true
	}
	return p.Inode == q.Inode && (p.Device == q.Device || p.System != "" && p.System == q.System)
}
