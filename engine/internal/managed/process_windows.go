package managed

import (
	"syscall"

	"filewise"
)

// supported refuses: a private server is reached by a Unix socket that only its
// user can open, ends with Filewise by its process group and the parent-death
// signal, and is known again by /proc. None of that is here.
func supported() error {
	return filewise.Errorf(filewise.CodePreflight, "name a server of yours: --target URL, or measure embedded: --engine sqlite",
		"Filewise starts private servers on Linux and macOS only: Windows has neither the process groups nor the signals by which they surely end with it: %w", filewise.ErrUnsupported)
}

func attributes(*User) *syscall.SysProcAttr { return nil }

func raiseLimit() {}

func killGroup(int) error { return filewise.ErrUnsupported }
