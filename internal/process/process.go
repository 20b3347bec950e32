// Package process identifies a process by PID, start time and boot, so that it is recognized even after its PID was
// given to another process.
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

// Identity identifies one process for good. The zero value identifies none.
type Identity struct {
	PID int `json:"pid"`
	// Start is the start time in clock ticks since boot (field 22 of /proc/PID/stat). It is 0 if the system does not
	// report it.
	Start uint64 `json:"start,omitempty"`
	// Boot is the kernel's random ID of the boot.
	Boot string `json:"boot,omitempty"`
	// Host and Space distinguish machines that share a home directory, and containers that share a boot but have their own
	// PIDs.
	Host  string `json:"host,omitempty"`
	Space string `json:"space,omitempty"`
}

// Status is a process's state of life.
type Status string

// The statuses. Unknown means that the process ran on another host or in another container, or that this system cannot
// find out. It has to be assumed alive.
const (
	Alive   Status = "alive"
	Dead    Status = "dead"
	Unknown Status = "unknown"
)

// String describes the process for a message.
func (id Identity) String() string {
	if id.PID == 0 {
		return "no process"
	}
	if here, err := Self(); err == nil && id.Space != "" && id.Space != here.Space {
		return fmt.Sprintf("process %d of another container", id.PID) // in which PIDs mean other processes
	}
	return fmt.Sprintf("process %d", id.PID)
}

// hold returns a handle to the process, for signals. The caller releases it. It is nil if the process is gone. On Linux
// the handle is of the process itself, not of its PID: the verified process gets the signal.
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
	_ = p.Release() // frees a descriptor, nothing else
	return nil, err
}

// Ask asks the process to end, by a signal or, if there are no signals, by another request. It waits until the process
// has ended, and never kills it. First, prove checks the PID's process; a nil prove checks nothing. The error reports
// that the PID has another process by now, that prove failed, or that the process still runs after patience.
func (id Identity) Ask(ctx context.Context, patience time.Duration, prove func(pid int) error,
	otherwise func(context.Context) error) error {
	p, err := id.hold()
	if p == nil || err != nil {
		return err
	}
	defer func() { _ = p.Release() }() // frees a descriptor, nothing else
	if prove != nil {
		if err := prove(id.PID); err != nil {
			if id.Status() == Dead { // it ended in the meantime
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

// End ends the process if it carries dir as its marker: first by SIGTERM and, after patience, by SIGKILL. It returns nil
// once the process is gone, also if it was gone before.
func (id Identity) End(ctx context.Context, dir string, patience time.Duration) error {
	p, err := id.hold()
	if p == nil || err != nil {
		return err
	}
	defer func() { _ = p.Release() }() // frees a descriptor, nothing else
	marked, err := id.Marked(dir)
	switch {
	case id.Status() == Dead: // it ended while its marker was looked for
		return nil
	case gone(err) || errors.Is(err, fs.ErrNotExist):
		// It is ending: its memory, where the marker was, goes before the process.
		if ended, waitErr := id.await(ctx, patience); ended || waitErr != nil {
			return waitErr
		}
		return err
	case err != nil:
		return err
	case !marked:
		return fmt.Errorf("process %d does not carry the marker %s", id.PID, dir)
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

// await polls until the process is gone, or patience is over.
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

// gone reports whether the process ended while its marker was read, which fails with ESRCH.
func gone(err error) bool { return errors.Is(err, syscall.ESRCH) }
