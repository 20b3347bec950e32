package server

import (
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes: a server ends with this process, and so does its System V shared memory,
// which a kill would leave for good, by a namespace of its own where that is permitted.
func attributes(user *User) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, Credential: user.credential()}
	if apart() {
		a.Cloneflags = unix.CLONE_NEWIPC
	}
	return a
}

// apart tries on a thread that ends with it.
var apart = sync.OnceValue(func() bool {
	permitted := make(chan bool)
	go func() {
		runtime.LockOSThread()
		permitted <- unix.Unshare(unix.CLONE_NEWIPC) == nil
	}()
	return <-permitted
})
