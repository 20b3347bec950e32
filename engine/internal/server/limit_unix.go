//go:build unix

package server

import (
	"sync"
	"syscall"
)

// raiseLimit lets servers open as many files as the machine allows. Go raises
// its own soft limit, and gives children the old one, often 1024, unless the
// program has set it explicitly.
var raiseLimit = sync.OnceFunc(func() {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return // if the server needs more, it reports that itself
	}
	l.Cur = l.Max
	_ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &l)
})
