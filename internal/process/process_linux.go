package process

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
)

// surroundings returns the fields that all processes of this boot and container share.
var surroundings = sync.OnceValues(func() (Identity, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return Identity{}, fmt.Errorf("boot id: %w", err)
	}
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return Identity{}, fmt.Errorf("PID namespace: %w", err)
	}
	return Identity{Boot: strings.TrimSpace(string(boot)), Space: space, Host: host()}, nil
})

// host returns the machine's ID, or its name if it has none. A cloned machine without an ID still has its own name.
func host() string {
	if b, err := os.ReadFile("/etc/machine-id"); err == nil {
		if id := strings.TrimSpace(string(b)); id != "" {
			return id
		}
	}
	name, _ := os.Hostname()
	return name
}

// Self identifies this process.
func Self() (Identity, error) { return Of(os.Getpid()) }

// Of identifies a running process of this machine. The error wraps fs.ErrNotExist if the process does not exist, or is
// a zombie.
func Of(pid int) (Identity, error) {
	id, err := surroundings()
	if err != nil {
		return Identity{}, err
	}
	state, start, err := stat(pid)
	if err != nil {
		return Identity{}, err
	}
	if (state == 'Z' || state == 'X') && lastThread(pid) {
		return Identity{}, fmt.Errorf("process %d has ended: %w", pid, fs.ErrNotExist)
	}
	id.PID, id.Start = pid, start
	return id, nil
}

// lastThread reports whether no other thread of the process runs. A process whose first thread has ended looks like a
// zombie while its other threads run on.
func lastThread(pid int) bool {
	threads, err := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/task")
	return err != nil || len(threads) <= 1
}

// stat reads a process's state and start time, fields 3 and 22 of proc(5). The command name (field 2) may hold spaces
// and brackets, so fields are counted from its last bracket.
func stat(pid int) (state byte, start uint64, err error) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, 0, err
	}
	i := bytes.LastIndexByte(b, ')')
	fields := bytes.Fields(b[i+1:])
	if i < 0 || len(fields) < 20 {
		return 0, 0, fmt.Errorf("/proc/%d/stat: unexpected content %q", pid, b)
	}
	start, err = strconv.ParseUint(string(fields[19]), 10, 64)
	if err != nil {
		return 0, 0, fmt.Errorf("/proc/%d/stat: start time: %w", pid, err)
	}
	return fields[0][0], start, nil
}

// Status reports whether the process still runs.
func (id Identity) Status() Status {
	here, err := surroundings()
	if err != nil || id.PID <= 0 {
		return Unknown
	}
	if id.Boot != here.Boot {
		// If the boot differs on this machine, that boot is over. On another machine it may not be.
		if id.Host == here.Host && id.Host != "" {
			return Dead
		}
		return Unknown
	}
	if id.Space != here.Space {
		return Unknown
	}
	now, err := Of(id.PID)
	switch {
	case errors.Is(err, fs.ErrNotExist) || gone(err):
		return Dead
	case err != nil:
		return Unknown
	case now.Start != id.Start:
		return Dead
	}
	return Alive
}
