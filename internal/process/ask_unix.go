//go:build unix

package process

import (
	"os"
	"syscall"
)

// askToEnd sends a process the signal to end by itself.
func askToEnd(p *os.Process) error { return p.Signal(syscall.SIGTERM) }
