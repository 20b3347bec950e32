package storage

import (
	"os/exec"
	"syscall"
)

// tie makes the kernel kill the program when the thread that started it ends. If Filewise is killed, no fio keeps
// writing.
func tie(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
