// Package process recognizes a process again after its PID may have been given to another one: by PID, start time and
// the boot they belong to.
package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// Identity is one process for good. The zero value is no process.
type Identity struct {
	PID int `json:"pid"`
	// Start is the start time in clock ticks since boot (field 22 of /proc/PID/stat); 0 if the system does not have
	// it.
	Start uint64 `json:"start,omitempty"`
	// Boot is the kernel's random id of this boot.
	Boot string `json:"boot,omitempty"`
	// Host and Space distinguish what shares a home directory or a boot: other machines, and containers with PIDs of
	// their own.
	Host  string `json:"host,omitempty"`
	Space string `json:"space,omitempty"`
}

// Status reports whether a process still runs.
type Status string

// The statuses. Unknown: it ran on another host or in another container, or this system cannot find out; it has to be
// taken for alive.
const (
	Alive   Status = "alive"
	Dead    Status = "dead"
	Unknown Status = "unknown"
)

// String names the process for a message.
func (id Identity) String() string {
	if id.PID == 0 {
		return "no process"
	}
	if here, err := Self(); err == nil && id.Space != "" && id.Space != here.Space {
		return fmt.Sprintf("process %d of another container", id.PID) // in which numbers mean other processes
	}
	return fmt.Sprintf("process %d", id.PID)
}

// hold is that very process, to be signalled and released. Nil means it is gone. On Linux it holds the process
// itself, not its number: what is verified is signalled.
func (id Identity) hold() (*os.Process, error) {
	p, err := os.FindProcess(id.PID)
	if err != nil {
		return nil, fmt.Errorf("process %d: %w", id.PID, err)
	}
	switch id.Status() {
	case Alive:
		return p, nil
	case Unknown:
		err = fmt.Errorf("process %d runs on another host or in another container, or cannot be distinguished from another one", id.PID)
	}
	_ = p.Release() // frees a descriptor, no more
	return nil, err
}

// Ask sends that very process a signal to end by, or a request of another kind if there are no signals, and waits
// until it has ended; it is never killed. Before, the process has to prove by its number what it is. Nil means it
// need not. The error reports that it is another one by now, what it has not proved, or that it still runs after
// patience.
func (id Identity) Ask(ctx context.Context, patience time.Duration, prove func(pid int) error,
	otherwise func(context.Context) error) error {
	p, err := id.hold()
	if p == nil || err != nil {
		return err
	}
	defer func() { _ = p.Release() }() // frees a descriptor, no more
	if prove != nil {
		if err := prove(id.PID); err != nil {
			if id.Status() == Dead { // it ended in between
				return nil
			}
			return err
		}
	}
	err = askToEnd(p)
	if errors.Is(err, errors.ErrUnsupported) && otherwise != nil {
		err = otherwise(ctx)
	}
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("asking process %d to end: %w", id.PID, err)
	}
	ended, err := id.await(ctx, patience)
	if err == nil && !ended {
		err = fmt.Errorf("process %d was signalled to end and still runs after %v", id.PID, patience)
	}
	return err
}

// End ends that very process if it carries dir as its mark: first by SIGTERM, after patience by SIGKILL. It returns
// nil when the process is gone, also when it was gone before.
func (id Identity) End(ctx context.Context, dir string, patience time.Duration) error {
	p, err := id.hold()
	if p == nil || err != nil {
		return err
	}
	defer func() { _ = p.Release() }() // frees a descriptor, no more
	marked, err := id.Marked(dir)
	switch {
	case id.Status() == Dead: // it ended while its mark was looked for
		return nil
	case gone(err) || errors.Is(err, fs.ErrNotExist):
		// It is ending: its memory, where the mark was, goes before the process.
		if ended, waitErr := id.await(ctx, patience); ended || waitErr != nil {
			return waitErr
		}
		return err
	case err != nil:
		return err
	case !marked:
		return fmt.Errorf("process %d does not carry the mark %s", id.PID, dir)
	}
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		if err := p.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return fmt.Errorf("ending process %d: %w", id.PID, err)
		}
		if gone, err := id.await(ctx, patience); gone || err != nil {
			return err
		}
	}
	return fmt.Errorf("process %d still runs %v after SIGKILL", id.PID, patience)
}

// await polls until the process is gone or patience is over.
func (id Identity) await(ctx context.Context, patience time.Duration) (bool, error) {
	end := time.Now().Add(patience)
	for wait := time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		if id.Status() == Dead {
			return true, nil
		}
		if time.Now().After(end) {
			return false, nil
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(wait):
		}
	}
}

// gone: a process that ends while its mark is looked for gives ESRCH.
func gone(err error) bool { return errors.Is(err, syscall.ESRCH) }
