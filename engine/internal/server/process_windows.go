package server

import (
	"syscall"

	"filewise"
	"filewise/host/machine"
)

func attributes(*User) *syscall.SysProcAttr { return nil }

func raiseLimit() {}

func killGroup(int) error { return filewise.ErrUnsupported }

// Give is never called: Windows has no managed servers.
func Give(string, string, *User) error { return machine.ManagedServers() }

func proceed(int) {}
