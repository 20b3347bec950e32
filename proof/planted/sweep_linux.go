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

// sweep removes what these tests have made, by name, and nothing else: file systems mounted below the work directory,
// loop devices with images in it, the directory, and the cgroup. The caller holds the lock.
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

// loopsIn returns the loop devices whose images lie in the directory.
func loopsIn(root string) ([]string, error) {
	files, err := filepath.Glob("/sys/block/loop*/loop/backing_file")
	if err != nil {
		return nil, err
	}
	var loops []string
	for _, f := range files {
		image, err := os.ReadFile(f)
		if err == nil && strings.HasPrefix(string(image), root+"/") { // otherwise free by now, or not the tests'
			loops = append(loops, "/dev/"+filepath.Base(filepath.Dir(filepath.Dir(f))))
		}
	}
	return loops, nil
}

// detach frees these loop devices. Its error names the devices that are still busy.
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

// patiently retries while something is still busy.
func patiently(do func() error) error {
	for start := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		if err := do(); err == nil || time.Since(start) > 10*time.Second {
			return err
		}
	}
}

// mount holds a line of /proc/self/mountinfo.
type mount struct {
	dir, kind string
	options   []string // options of the file system
}

func (m mount) has(option string) bool { return slices.Contains(m.options, option) }

// mountPoints returns the mount points that this process sees, in the order of mounting (proc_pid_mountinfo(5)).
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
