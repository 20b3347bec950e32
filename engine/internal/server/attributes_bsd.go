//go:build unix && !linux

package server

import "syscall"

// attributes sets only the user. These systems have no parent-death signal; the next start of Filewise ends leftover
// servers.
func attributes(user *User) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Credential: user.credential()}
}
