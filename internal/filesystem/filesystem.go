// Package filesystem holds operations on file systems that package os lacks, in each platform's own way. For what a
// platform does not report, ok is false, or the error wraps errors.ErrUnsupported.
package filesystem

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"filewise/internal/fault"
)

// ErrLocked means that another process, or another open file of this process, holds the lock.
var ErrLocked = errors.New("it is locked")

// LockPatiently locks a file whose lock others hold only for moments, to look at it.
func LockPatiently(f *os.File) error {
	for end := time.Now().Add(time.Second); ; time.Sleep(time.Millisecond) {
		if err := Lock(f); !errors.Is(err, ErrLocked) || time.Now().After(end) {
			return err
		}
	}
}

// heldPatience is the time for which Insist tries.
const heldPatience = 5 * time.Second

// Insist repeats an action for some seconds while it fails because another program has a file open. Windows' virus
// scanners and backups open each new file for a moment.
func Insist(do func() error) error {
	for end := time.Now().Add(heldPatience); ; time.Sleep(20 * time.Millisecond) {
		if err := do(); !fault.HeldOpen(err) || time.Now().After(end) {
			return err
		}
	}
}

// MkdirPrivate makes a directory and its missing parents. Only this user may access a new directory.
func MkdirPrivate(dir string) error {
	_, err := os.Lstat(dir)
	isNew := errors.Is(err, fs.ErrNotExist)
	if err := os.MkdirAll(dir, 0o700); err != nil || !isNew {
		return err
	}
	return MakePrivate(dir)
}

// Place identifies a directory, so that another one found later under its path is recognized, such as an empty mount
// point in place of the mounted volume.
type Place struct {
	Device uint64 `json:"device,omitempty"` // st_dev, which can differ for another mount of a volume
	Inode  uint64 `json:"inode,omitempty"`
	System string `json:"system,omitempty"` // f_fsid of statfs(2), which many file systems keep; on Windows the volume's name
}

// Same reports whether both places are one directory, as far as is known.
func (p Place) Same(q Place) bool {
	if p == (Place{}) || q == (Place{}) {
		return true
	}
	return p.Inode == q.Inode && (p.Device == q.Device || p.System != "" && p.System == q.System)
}
