//go:build linux

package main

import (
	"os"
	"os/exec"
	"syscall"
)

// second is the script of a local user who renames, links and writes wherever permitted below a directory, for as long
// as the directory exists.
const second = `cd "$1" && while [ -d "$1" ]; do for f in "$1"/* "$1"/*/* "$1"/*/*/*; do
mv -n "$f" "$f.taken"; ln -s /etc/passwd "$f.link"; echo mine >>"$f"; chmod 777 "$f"; rm -f "$f"; done; sleep 0.2; done`

// withNeighbour runs a try with another local user at work in the place, if this process is root's. The tries find out what
// that user can do.
func withNeighbour(try func(*place) error) func(*place) error {
	return func(p *place) error {
		if os.Geteuid() != 0 {
			return try(p)
		}
		const nobody = 65534
		cmd := exec.CommandContext(p, "/bin/sh", "-c", second, "sh", p.dir)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
		if err := cmd.Start(); err != nil {
			return err
		}
		p.undo = append(p.undo, func() error { _ = cmd.Cancel(); _ = cmd.Wait(); return nil })
		return try(p)
	}
}
