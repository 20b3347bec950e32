//go:build !linux

package hostlock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"filewise"
	"filewise/internal/filesystem"
)

// Lock is the held measuring lock: a locked file that all users of the host share. The system unlocks it when the
// process ends.
type Lock struct {
	mu     sync.Mutex
	file   *os.File
	holder Holder
}

// Acquire takes the lock for h, and fills in PID, User and Since if they are empty. It never waits for a holder: the
// error then has CodeBusy and names the holder.
func Acquire(ctx context.Context, h Holder) (*Lock, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f, err := open()
	if err != nil {
		return nil, err
	}
	if err := take(f); err != nil {
		defer f.Close()
		if !errors.Is(err, filesystem.ErrLocked) {
			return nil, filewise.Errorf(filewise.CodePreflight, "", "cannot take the measuring lock %s: %w", f.Name(), err)
		}
		return nil, busy(written(f))
	}
	l := &Lock{file: f, holder: h.complete()}
	if err := l.write(); err != nil {
		f.Close()
		return nil, filewise.Errorf(filewise.CodePreflight, "", "cannot write the measuring lock %s: %w", f.Name(), err)
	}
	return l, nil
}

// open opens the lock's file.
func open() (*os.File, error) {
	f, err := openShared(filepath.Join(sharedDir(), strings.NewReplacer("/", "_", `\`, "_", ":", "_").Replace(name())+".lock"))
	if err != nil {
		return nil, filewise.Errorf(filewise.CodePreflight, "make the file writable for all users, or delete it",
			"cannot take the measuring lock: %w", err)
	}
	return f, nil
}

// take locks the file. It waits for callers of Current, which lock the file for a moment.
func take(f *os.File) (err error) {
	for range 10 {
		if err = filesystem.Lock(f); !errors.Is(err, filesystem.ErrLocked) {
			return err
		}
		time.Sleep(2 * time.Millisecond)
	}
	return err
}

// Current returns the lock's present holder, as the holder has written. ok is false if there is none.
func Current(context.Context) (h Holder, ok bool, err error) {
	f, err := open()
	if err != nil {
		return Holder{}, false, err
	}
	defer f.Close()
	held, err := filesystem.Locked(f)
	if err != nil || !held {
		return Holder{}, false, err
	}
	if h, err = written(f); err != nil {
		return Holder{}, false, filewise.Errorf(filewise.CodeBusy, "try again", "who measures on this host does not say so: %w", err)
	}
	return h, true, nil
}

// Holds returns nil if the lock is held, and the process has written that it is the holder.
func Holds(pid int) error {
	h, held, err := Current(context.Background())
	if err == nil && (!held || h.PID != pid) {
		err = fmt.Errorf("process %d does not hold the measuring lock", pid)
	}
	return err
}

// written returns the holder's description of itself, which it writes right after taking the lock.
func written(f *os.File) (h Holder, err error) {
	for end := time.Now().Add(time.Second); ; time.Sleep(5 * time.Millisecond) {
		err = json.NewDecoder(io.NewSectionReader(f, 0, 4096)).Decode(&h)
		if err == nil || time.Now().After(end) {
			return h, err
		}
	}
}

// SetRun adds the run to the holder's description, once the run is known.
func (l *Lock) SetRun(run string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.holder.Run = run
	if l.file != nil {
		_ = l.write() // a failure only makes the refusal of a second run less informative
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

// Unique returns an empty text: only Linux has a boot's ID, by which locks of different hosts are distinguished.
func (*Lock) Unique() string { return "" }

// Release releases the lock. Releasing twice is harmless.
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
