//go:build !linux

package hostlock

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"filewise"
	"filewise/internal/filesystem"
)

// Lock is the measuring lock, held: a locked file that all users of the host share,
// which the system unlocks when the process ends.
type Lock struct {
	mu     sync.Mutex
	file   *os.File
	holder Holder
}

// Acquire takes the lock for h; PID, User and Since are filled in when empty.
// An error of code busy says who holds it. It never waits for the holder.
func Acquire(ctx context.Context, h Holder) (*Lock, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	path := filepath.Join(sharedDir(), strings.NewReplacer("/", "_", `\`, "_", ":", "_").Replace(name())+".lock")
	f, err := openShared(path)
	if err != nil {
		return nil, filewise.Errorf(filewise.CodePreflight, "make the file writable for all users, or delete it",
			"cannot take the measuring lock: %w", err)
	}
	if err := filesystem.Lock(f); err != nil {
		defer f.Close()
		if !errors.Is(err, filesystem.ErrLocked) {
			return nil, filewise.Errorf(filewise.CodePreflight, "", "cannot take the measuring lock %s: %w", path, err)
		}
		return nil, busy(written(f))
	}
	l := &Lock{file: f, holder: h.complete()}
	if err := l.write(); err != nil {
		f.Close()
		return nil, filewise.Errorf(filewise.CodePreflight, "", "cannot write the measuring lock %s: %w", path, err)
	}
	return l, nil
}

// written is what the holder has written of itself, which it does right after it
// has the lock.
func written(f *os.File) (h Holder, err error) {
	for end := time.Now().Add(time.Second); ; time.Sleep(5 * time.Millisecond) {
		err = json.NewDecoder(io.NewSectionReader(f, 0, 4096)).Decode(&h)
		if err == nil || time.Now().After(end) {
			return h, err
		}
	}
}

// SetRun tells later ones which run it is, once that is known.
func (l *Lock) SetRun(run string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.holder.Run = run
	if l.file != nil {
		_ = l.write() // without it the refusal of a second run says less
	}
}

func (l *Lock) write() error {
	b, err := json.Marshal(l.holder)
	if err != nil {
		return err
	}
	if _, err := l.file.WriteAt(append(b, '\n'), 0); err != nil {
		return err
	}
	return l.file.Truncate(int64(len(b) + 1))
}

// Unique would tell this lock from those of other hosts: only Linux tells boots apart.
func (*Lock) Unique() string { return "" }

// Release gives the lock back. Releasing twice is harmless.
func (l *Lock) Release() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	err := errors.Join(l.file.Truncate(0), l.file.Close())
	l.file = nil
	return err
}
