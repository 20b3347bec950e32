//go:build unix

package server

import "syscall"

func (u *User) credential() *syscall.Credential {
	if u == nil {
		return nil
	}
	return &syscall.Credential{Uid: u.UID, Gid: u.GID}
}

// killGroup ends a process and all of its group at once.
func killGroup(pid int) error { return syscall.Kill(-pid, syscall.SIGKILL) }

// proceed has a process that someone has stopped (SIGSTOP) receive its signals, with what
// it has started in its group.
func proceed(pid int) { _ = syscall.Kill(-pid, syscall.SIGCONT) }
