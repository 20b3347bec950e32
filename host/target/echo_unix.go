//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package target

import "golang.org/x/sys/unix"

// disableEcho turns a terminal's echo off. term.Restore turns it on again.
func disableEcho(fd int) error {
	t, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return err
	}
	t.Lflag &^= unix.ECHO
	return unix.IoctlSetTermios(fd, setTermios, t)
}
