package planted

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// sweep removes what these tests made, by its names: file systems mounted below the
// work directory, loop devices whose image lies in there, the directory, and the
// cgroup. Nothing else is touched. It is called with the lock held.
func sweep(root string) error {
	if err := leaveGroup(); err != nil {
		return fmt.Errorf("the cgroup: %w", err)
	}
	info, err := os.Lstat(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); !info.IsDir() || !ok || owner.Uid != 0 {
		return fmt.Errorf("%s is not a directory of root's, and so none of these tests'", root)
	}
	mounts, err := mountPoints()
	if err != nil {
		return err
	}
	for _, m := range slices.Backward(mounts) {
		if strings.HasPrefix(m.dir, root+"/") {
			if err := patiently(func() error { return syscall.Unmount(m.dir, 0) }); err != nil {
				return fmt.Errorf("unmounting %s: %w", m.dir, err)
			}
		}
	}
	if err := patiently(func() error { return detach(root) }); err != nil {
		return err
	}
	return os.RemoveAll(root)
}

// loopsIn are the loop devices whose images lie in the directory.
func loopsIn(root string) ([]string, error) {
	files, err := filepath.Glob("/sys/block/loop*/loop/backing_file")
	if err != nil {
		return nil, err
	}
	var loops []string
	for _, f := range files {
		image, err := os.ReadFile(f)
		if err == nil && strings.HasPrefix(string(image), root+"/") { // else free by now, or not ours
			loops = append(loops, "/dev/"+filepath.Base(filepath.Dir(filepath.Dir(f))))
		}
	}
	return loops, nil
}

// detach frees those; its error reports which are still busy.
func detach(root string) error {
	loops, err := loopsIn(root)
	if err != nil {
		return err
	}
	var errs []error
	for _, loop := range loops {
		if _, err := command("losetup", "--detach", loop); err != nil {
			errs = append(errs, err)
		}
	}
	if loops, err = loopsIn(root); err != nil || len(loops) > 0 {
		errs = append(errs, fmt.Errorf("still in use: %v", loops), err)
	}
	return errors.Join(errs...)
}

// patiently tries again while something is still busy.
func patiently(do func() error) error {
	for start := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		if err := do(); err == nil || time.Since(start) > 10*time.Second {
			return err
		}
	}
}

// mount is a line of /proc/self/mountinfo.
type mount struct {
	dir, kind string
	options   []string // of the file system
}

func (m mount) has(option string) bool { return slices.Contains(m.options, option) }

// mountPoints are the mount points that this process sees, in the order of mounting (proc_pid_mountinfo(5)).
func mountPoints() ([]mount, error) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	var all []mount
	for line := range strings.Lines(string(text)) {
		before, after, ok := strings.Cut(line, " - ")
		left, right := strings.Fields(before), strings.Fields(after)
		if ok && len(left) >= 5 && len(right) >= 3 {
			all = append(all, mount{dir: left[4], kind: right[0], options: strings.Split(right[2], ",")})
		}
	}
	return all, nil
}
