package filesystem

import (
	"errors"
	"os"
	"time"
)

// ErrLocked: another process, or another open file of this one, holds the lock.
var ErrLocked = errors.New("it is locked")

// LockPatiently locks a file that nobody keeps locked but whose lock others may be
// looking at, which takes them moments.
func LockPatiently(f *os.File) error {
	for end := time.Now().Add(time.Second); ; time.Sleep(time.Millisecond) {
		if err := Lock(f); !errors.Is(err, ErrLocked) || time.Now().After(end) {
			return err
		}
	}
}
