//go:build unix

package server

import "syscall"

func (u *User) credential() *syscall.Credential {
	if u == nil {
		return nil
	}
	return &syscall.Credential{Uid: u.UID, Gid: u.GID}
}

// killGroup kills a process and its whole process group.
func killGroup(pid int) error { return syscall.Kill(-pid, syscall.SIGKILL) }

// proceed resumes a process group that someone has stopped (SIGSTOP), so that it receives its signals.
func proceed(pid int) { _ = syscall.Kill(-pid, syscall.SIGCONT) }
