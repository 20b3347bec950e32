//go:build unix

package process

import (
	"os"
	"syscall"
)

// askToEnd sends a process SIGTERM, which asks it to end.
func askToEnd(p *os.Process) error { return p.Signal(syscall.SIGTERM) }
