package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// Self identifies this process.
func Self() (Identity, error) { return Of(os.Getpid()) }

// Of identifies a running process of this machine. Its start time is in units of 100 ns since 1601. The error wraps
// fs.ErrNotExist if the process does not exist.
func Of(pid int) (Identity, error) {
	host, err := os.Hostname()
	if err != nil {
		return Identity{}, err
	}
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION|windows.SYNCHRONIZE, false, uint32(pid))
	if errors.Is(err, windows.ERROR_INVALID_PARAMETER) {
		return Identity{}, fmt.Errorf("there is no process %d: %w", pid, fs.ErrNotExist)
	}
	if err != nil {
		return Identity{}, fmt.Errorf("process %d: %w", pid, err)
	}
	defer windows.CloseHandle(h) //nolint:errcheck // nothing was written by it
	// A process that has ended still exists as long as any process holds a handle to it.
	if event, err := windows.WaitForSingleObject(h, 0); err == nil && event == windows.WAIT_OBJECT_0 {
		return Identity{}, fmt.Errorf("process %d has ended: %w", pid, fs.ErrNotExist)
	}
	var created, exited, system, user windows.Filetime
	if err := windows.GetProcessTimes(h, &created, &exited, &system, &user); err != nil {
		return Identity{}, fmt.Errorf("process %d: GetProcessTimes: %w", pid, err)
	}
	return Identity{PID: pid, Host: host, Start: uint64(created.HighDateTime)<<32 | uint64(created.LowDateTime)}, nil
}

// Status reports whether the process still runs. No two processes of a machine share both PID and start time.
func (id Identity) Status() Status {
	host, err := os.Hostname()
	if err != nil || id.PID <= 0 || id.Host != host {
		return Unknown
	}
	now, err := Of(id.PID)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Dead
	case err != nil:
		return Unknown
	case now.Start != id.Start:
		return Dead
	}
	return Alive
}

// Marked is unsupported here: Filewise starts no servers on Windows.
func (id Identity) Marked(string) (bool, error) { return false, errors.ErrUnsupported }
