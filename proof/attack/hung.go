//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// hungWithin limits the time of a command that meets a volume that does not answer.
const hungWithin = time.Minute

// hung makes the volume of a killed run stop answering, as an NFS server or a FUSE daemon does, and then die. Commands
// must go on meanwhile. What is on the volume must stay registered until the volume is back, and then be removed.
func hung(p *place) error {
	volume := filepath.Join(p.dir, "hung")
	if err := os.Mkdir(volume, 0o755); err != nil {
		return err
	}
	c, err := p.start(nil, append(runArgs(sqliteRun...), "--volume", "hung="+volume)...)
	if err != nil {
		return err
	}
	if err := until(func() (bool, error) {
		made, err := filepath.Glob(filepath.Join(volume, "filewise-*"))
		return len(made) > 0 || over(c), err
	}); err != nil {
		return err
	}
	if over(c) {
		return fmt.Errorf("the run has ended\n%.2000s", c.stderr.Bytes())
	}
	if err := c.Process.Kill(); err != nil {
		return err
	}
	_, _ = c.exit()
	daemon, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer daemon.Close()
	if err := syscall.Mount("fuse", volume, "fuse", 0, fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0", daemon.Fd())); err != nil {
		return err
	}
	back := func() error { return syscall.Unmount(volume, syscall.MNT_DETACH|syscall.MNT_FORCE) }
	p.undo = append(p.undo, func() error { _ = daemon.Close(); _ = back(); return nil })
	if err := p.othersEnd(); err != nil {
		return fmt.Errorf("while it hangs: %w", err)
	}
	if err := daemon.Close(); err != nil { // from here on ENOTCONN
		return err
	}
	if err := p.othersEnd(); err != nil {
		return fmt.Errorf("once it is dead: %w", err)
	}
	if err := back(); err != nil {
		return err
	}
	if _, err := p.run([]int{0}, "clean", "--yes"); err != nil {
		return err
	}
	left, err := filepath.Glob(filepath.Join(volume, "filewise-*"))
	if err != nil || len(left) > 0 {
		return errors.Join(err, fmt.Errorf("left: %v", left))
	}
	return p.tidy()
}

// othersEnd checks that commands end in time while the volume of a registered run does not answer, and that the run stays
// registered.
func (p *place) othersEnd() error {
	hung := filepath.Join(p.dir, "hung")
	volume, store, out := "--volume=hung="+hung, "--store="+filepath.Join(hung, "store.db"), filepath.Join(hung, "out")
	for _, args := range [][]string{{"version"}, {"list"}, {"stop"}, {"clean", "--dry-run"}, {"clean", "--yes"}, {"plan"}, {"show"}, {"judge"},
		{"report", "-o", filepath.Join(p.dir, "r.html")}, {"export", "--format", "csv"}, {"doctor"}, {"engines"}, {"completion", "bash"},
		{"plan", volume}, {"doctor", volume}, {"run", volume}, {"resume"}} {
		if err := p.allEnd(args); err != nil {
			return err
		}
	}
	// Each waits for the volume that it needs.
	if err := p.allEnd([]string{"list", store}, []string{"show", store}, []string{"run", store}, []string{"resume", store},
		[]string{"export", store, "--format", "csv"}, []string{"report", "-o", out}, []string{"export", "--format", "csv", "-o", out},
		[]string{"export", "--bundle", out}); err != nil {
		return err
	}
	registered, err := filepath.Glob(filepath.Join(p.state, "scratch", "*"))
	if err == nil && len(registered) == 0 {
		err = errors.New("what is on the volume is not registered any more")
	}
	return err
}

// allEnd starts commands, and checks that each ends in time.
func (p *place) allEnd(commands ...[]string) error {
	started := make([]*child, len(commands))
	for i, args := range commands {
		var err error
		if started[i], err = p.start(nil, args...); err != nil {
			return err
		}
	}
	for i, c := range started {
		select {
		case <-c.ended:
		case <-time.After(hungWithin):
			return fmt.Errorf("filewise %v hangs", commands[i])
		}
		if err := c.sound(); err != nil {
			return err
		}
	}
	return nil
}

// noFuse returns the reason why no file system with such a daemon can be made.
func noFuse(ctx context.Context, a *attack) string {
	if why := noMount(ctx, a); why != "" {
		return why
	}
	f, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		return err.Error()
	}
	_ = f.Close()
	return ""
}
