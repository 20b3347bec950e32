//go:build unix && !linux

package process

import (
	"errors"
	"os"
	"syscall"
)

// Self identifies this process by its PID alone.
func Self() (Identity, error) { return Of(os.Getpid()) }

// Of identifies a process by its PID and host alone.
func Of(pid int) (Identity, error) {
	host, err := os.Hostname()
	if err != nil {
		return Identity{}, err
	}
	return Identity{PID: pid, Host: host}, nil
}

// Status returns Dead if no process has the PID, otherwise Unknown: without a start time, it may be another process, so
// it is left alone.
func (id Identity) Status() Status {
	host, err := os.Hostname()
	if err != nil || id.PID <= 0 || id.Host != host {
		return Unknown
	}
	p, err := os.FindProcess(id.PID)
	if err != nil {
		return Dead
	}
	defer p.Release()
	if err := p.Signal(syscall.Signal(0)); errors.Is(err, os.ErrProcessDone) {
		return Dead
	}
	return Unknown
}

// Marked is unsupported here, so that no process is ever ended on a guess.
func (id Identity) Marked(string) (bool, error) { return false, errors.ErrUnsupported }
