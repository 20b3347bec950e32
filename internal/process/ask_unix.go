//go:build unix

package process

import (
	"os"
	"syscall"
)

// askToEnd asks a process to end by itself.
func askToEnd(p *os.Process) error { return p.Signal(syscall.SIGTERM) }
