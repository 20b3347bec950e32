package hostlock

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"filewise/internal/process"
)

// Holds returns nil if the process has the lock's socket open. The kernel's report of a peer is not enough: it names
// the process that called listen(), which may be another process's number by now.
func Holds(pid int) error {
	inode, err := inode()
	if err != nil {
		return err
	}
	held, err := process.HasSocket(pid, inode)
	if err != nil {
		return fmt.Errorf("whether process %d holds the measuring lock cannot be seen: %w", pid, err)
	}
	if !held {
		return fmt.Errorf("process %d does not hold the measuring lock", pid)
	}
	return nil
}

// inode returns the listening socket's inode from /proc/net/unix (unix(7): Num, RefCount, Protocol, Flags, Type, St,
// Inode, Path).
func inode() (uint64, error) {
	f, err := os.Open("/proc/net/unix")
	if err != nil {
		return 0, err
	}
	defer f.Close()
	const listens = "00010000" // __SO_ACCEPTCON
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields, path := [7]string{}, lines.Text()
		for i := range fields {
			fields[i], path, _ = strings.Cut(strings.TrimLeft(path, " "), " ")
		}
		if fields[3] == listens && path == "@"+name() { // a name may hold spaces
			return strconv.ParseUint(fields[6], 10, 64)
		}
	}
	return 0, errors.New("the measuring lock is not held")
}
