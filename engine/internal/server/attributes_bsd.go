//go:build unix && !linux

package server

import "syscall"

// attributes: other systems have no parent-death signal; there the next start
// of Filewise ends what is left.
func attributes(user *User) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Credential: user.credential()}
}
