//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"filewise/cmd/filewise/filewisetest"
	"filewise/results/store"
)

// noMount returns the reason why nothing can be mounted here.
func noMount(_ context.Context, a *attack) string {
	dir, err := os.MkdirTemp(a.dir, "mount")
	if err == nil {
		defer os.Remove(dir)
		if err = syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err == nil {
			err = syscall.Unmount(dir, 0)
		}
	}
	if err != nil {
		return "mounting is not permitted: " + err.Error()
	}
	return ""
}

// mount puts a small file system below a directory. It is a separate one that is bound there, so that it can go away
// and come back.
func (p *place) mount(dir string, bytes int) (source string, err error) {
	source = p.dir + "/device-" + filepath.Base(dir)
	if err := errors.Join(os.MkdirAll(source, 0o755), os.MkdirAll(dir, 0o755)); err != nil {
		return "", err
	}
	if err := syscall.Mount("tmpfs", source, "tmpfs", 0, fmt.Sprintf("size=%d,mode=755", bytes)); err != nil {
		return "", err
	}
	p.undo = append([]func() error{func() error { return syscall.Unmount(source, syscall.MNT_DETACH) }}, p.undo...)
	if err := os.CopyFS(source, os.DirFS(dir)); err != nil {
		return "", err
	}
	if err := syscall.Mount(source, dir, "", syscall.MS_BIND, ""); err != nil {
		return "", err
	}
	p.undo = append([]func() error{p.undo[0], func() error { return syscall.Unmount(dir, syscall.MNT_DETACH) }}, p.undo[1:]...)
	p.belongings, err = filewisetest.Tree(p.volume)
	return source, err
}

// struck calls strike at a random moment of a run, and mend once the run has ended.
func (p *place) struck(strike, mend func() error, flags ...string) error {
	c, err := p.start(nil, runArgs(append([]string{"--volume=here=" + p.volume}, flags...)...)...)
	if err != nil {
		return err
	}
	p.wait(1500 * time.Millisecond)
	if err := strike(); err != nil {
		return fmt.Errorf("not struck: %w", err)
	}
	code, err := c.exit()
	if err == nil {
		err = p.unmended()
	}
	if err := errors.Join(err, mend()); err != nil {
		return err
	}
	if s, err := p.stored(); code == 3 && err == nil && s.run.ID == 0 {
		return p.clean() // the fault came before the run began; what was out of reach then is not now
	}
	return p.recovers(c)
}

// unmended checks that resume reports the remedy as long as nothing is mended, and loses nothing.
func (p *place) unmended() error {
	if p.unread {
		return nil
	}
	before, err := p.stored()
	if err != nil || before.run.ID == 0 || before.run.State == store.Done {
		return err
	}
	c, err := p.start(nil, "resume")
	if err != nil {
		return err
	}
	code, err := c.exit()
	if err == nil && code != 0 && (code < 3 || !p.helps(c)) {
		err = fmt.Errorf("resume unmended: exit code %d\n%.2000s", code, c.stderr.Bytes())
	}
	if err == nil {
		err = p.kept(before)
	}
	return err
}

// fill fills a file system to its last byte.
func fill(dir string) error {
	f, err := os.Create(filepath.Join(dir, "filler"))
	if err != nil {
		return err
	}
	block := make([]byte, 4096)
	for err == nil {
		_, err = f.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		return errors.Join(err, f.Close())
	}
	return f.Close()
}

// diskFull fills the volume, or the file system of the store or of the state.
func diskFull(p *place) error {
	dirs := []string{p.volume, filepath.Join(p.dir, "kept"), p.state}
	dir := dirs[p.IntN(len(dirs))]
	if dir == dirs[1] {
		p.env = append(p.env, "FILEWISE_STORE="+filepath.Join(dir, "store.db"))
		p.store = filepath.Join(dir, "store.db")
	}
	source, err := p.mount(dir, 80<<20)
	if err != nil {
		return err
	}
	err = p.struck(func() error { return fill(source) }, func() error { return os.Remove(filepath.Join(source, "filler")) }, sqliteRun...)
	if err != nil {
		return fmt.Errorf("%s is full: %w", filepath.Base(dir), err)
	}
	return nil
}

// readOnly remounts the volume read-only as soon as no file is open for writing.
func readOnly(p *place) error {
	if _, err := p.mount(p.volume, 80<<20); err != nil {
		return err
	}
	remount := func(flags uintptr) error {
		return filewisetest.Until(10*time.Second, func() (bool, error) {
			err := syscall.Mount("", p.volume, "", syscall.MS_REMOUNT|syscall.MS_BIND|flags, "")
			if errors.Is(err, syscall.EBUSY) {
				return false, nil
			}
			return err == nil, err
		})
	}
	return p.struck(func() error { _ = remount(syscall.MS_RDONLY); return nil }, func() error { return remount(0) }, sqliteRun...)
}

// remounted removes the volume's disk, which comes back under another name.
func remounted(p *place) error {
	image, other := p.dir+"/image", p.dir+"/other"
	sh := func(text string) func() error {
		return func() error {
			cmd := exec.CommandContext(p, "/bin/sh", "-c", "set -e; "+text, "sh", p.volume, image, other)
			if out, err := cmd.CombinedOutput(); err != nil {
				return fmt.Errorf("%s: %w\n%.500s", text, err, out)
			}
			return nil
		}
	}
	made := sh(`cp -r "$1" "$2.of"; truncate -s 120M "$2" "$3"; mkfs.ext4 -q -d "$2.of" "$2"; rm -r "$2.of"
mount -o loop "$2" "$1"; rmdir "$1/lost+found"`)
	p.undo = append(p.undo, sh(`umount -l "$1" || :; losetup -j "$3" | cut -d: -f1 | xargs -r losetup -d`))
	err := made()
	if err == nil {
		p.belongings, err = filewisetest.Tree(p.volume)
	}
	if err != nil {
		return err
	}
	return p.struck(sh(`umount -l "$1"`), sh(`losetup -f "$3"; mount -o loop "$2" "$1"`), sqliteRun...)
}

// unmounted unmounts the volume although its files are open.
func unmounted(p *place) error {
	if _, err := exec.LookPath("mkfs.ext4"); err == nil && p.IntN(2) == 0 {
		return remounted(p)
	}
	source, err := p.mount(p.volume, 80<<20)
	if err != nil {
		return err
	}
	return p.struck(func() error { return syscall.Unmount(p.volume, syscall.MNT_DETACH) },
		func() error { return syscall.Mount(source, p.volume, "", syscall.MS_BIND, "") }, sqliteRun...)
}

// noTimes returns the reason why such namespaces cannot be made.
func noTimes(ctx context.Context, _ *attack) string {
	out, err := exec.CommandContext(ctx, "unshare", "--pid", "--mount-proc", "--time", "--fork", "--boottime", "1", "true").CombinedOutput()
	if err != nil {
		return fmt.Sprintf("PID, mount and time namespaces are not permitted: %v %s", err, strings.TrimSpace(string(out)))
	}
	return ""
}

// elsewhere runs a run and other commands in separate PID, mount and time namespaces, whose monotonic and boot clocks
// differ. The commands act during the run and after its kills. The wall clock has no namespace.
func elsewhere(p *place) error {
	text, err := os.ReadFile("/proc/uptime")
	if err != nil {
		return err
	}
	up, err := strconv.ParseFloat(strings.Fields(string(text))[0], 64)
	if err != nil {
		return err
	}
	wraps := [][]string{nil}
	for _, by := range []int{3600, 86400, -3600, -86400} {
		if up+float64(by) > 60 { // clocks do not go below zero
			s := strconv.Itoa(by)
			wraps = append(wraps, append(strings.Fields("unshare --pid --mount-proc --time --fork --kill-child --monotonic"), s, "--boottime", s))
		}
	}
	apart := wraps[1:]
	say := func(code int, words string, args ...string) error {
		c, err := p.start(apart[p.IntN(len(apart))], args...)
		if err != nil {
			return err
		}
		got, err := c.exit()
		if err == nil && (got != code || !strings.Contains(c.stderr.String(), words)) {
			err = fmt.Errorf("%v: exit code %d, not %d with %q\n%.1000s", c.Args, got, code, words, c.stderr.Bytes())
		}
		return err
	}
	scratch := filepath.Join(p.volume, "filewise-*", ".filewise-mark")
	// The layouts are so equal that no verdict ends the run while the other commands look at it.
	args, trials := runArgs("--layout=files=1", "--layout=files=1,allocation=growing", "--margin=0.1", "--goal=verdicts", "--window=2s",
		"--warm-up=20ms", "--size=1MiB", "--connections=2", "--max-blocks=30"), 0 // boundaries for more blocks are simulated
	for range 2 { // a run and its resumption
		c, err := p.start(wraps[p.IntN(len(wraps))], args...)
		if err != nil {
			return err
		}
		if err := until(func() (bool, error) { s, err := p.stored(); return len(s.trials) > trials || over(c), err }); err != nil {
			return err
		}
		if err := errors.Join(say(0, "", "clean"), say(0, "", "list"), say(4, "of another container", "resume"),
			say(3, "another container", "stop")); err != nil {
			return err
		}
		if left, _ := filepath.Glob(scratch); len(left) == 0 || over(c) {
			return fmt.Errorf("the scratch directory of a living run was removed, or the run has ended:\n%s", &c.stderr)
		}
		before, err := p.stored()
		if err == nil {
			err = p.kill(c, time.Second)
		}
		if err == nil { // everything in the namespace ends after it
			err = until(func() (bool, error) { s, err := p.stored(); return s.run.State != store.Running, err })
		}
		args = []string{"resume"}
		if err := errors.Join(err, say(0, "", "clean"), p.tidy(), p.kept(before)); err != nil {
			return err
		}
		after, err := p.stored() // a trial may have been stored before the kill; it is not the next command's
		if err != nil {
			return err
		}
		trials = len(after.trials)
	}
	return nil
}
