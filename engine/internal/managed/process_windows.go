package managed

import (
	"syscall"

	"filewise"
)

func attributes(*User) *syscall.SysProcAttr { return nil }

func raiseLimit() {}

func killGroup(int) error { return filewise.ErrUnsupported }
