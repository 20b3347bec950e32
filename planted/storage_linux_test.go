package planted

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"filewise"
)

// storage is a directory that is not throttled, and volumes on loop devices that
// are, for the processes of a cgroup in which this one is.
type storage struct {
	data  filewise.Volume
	slow  []device
	group *group
}

// device is a volume on a loop device of its own.
type device struct {
	filewise.Volume
	loop string // /dev/loop3
	speed
}

// speed is how fast a device takes writes, per second; 0: no limit.
type speed struct{ bytes, requests int64 }

// imageBytes is the size of a device, of which only what is written takes memory: more
// than a server that nothing throttles writes in a trial, its log included.
const imageBytes = 4 << 30

// newStorage makes the storage, with a throttled volume for each speed, and removes
// it when the test ends. What a killed run left is removed before.
func newStorage(t testing.TB, speeds ...speed) *storage {
	t.Helper()
	need(t)
	lock(t)
	root := workDir()
	if err := sweep(root); err != nil {
		t.Fatalf("what an earlier run left in %s cannot be removed: %v", root, err)
	}
	t.Cleanup(func() {
		if err := sweep(root); err != nil {
			t.Errorf("cleaning up %s: %v", root, err)
		}
	})
	s := &storage{data: filewise.Volume{Name: "data", Dir: filepath.Join(root, "data")}}
	if err := errors.Join(os.Mkdir(root, 0o711), os.Mkdir(s.data.Dir, 0o711)); err != nil { // servers run as another user
		t.Fatal(err)
	}
	for i, speed := range speeds {
		d, err := newDevice(root, string(rune('a'+i)), speed)
		if err != nil {
			unable(t, "a file system on a loop device cannot be made: %v", err)
		}
		s.slow = append(s.slow, d)
	}
	s.group = newGroup(t)
	return s
}

// newDevice makes a file system on a loop device and mounts it. It has no journal,
// whose thread would write on behalf of nobody, past the throttle.
func newDevice(root, name string, speed speed) (d device, err error) {
	image, dir := filepath.Join(root, name+".img"), filepath.Join(root, name)
	f, err := os.OpenFile(image, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return d, err
	}
	if err := errors.Join(f.Truncate(imageBytes), f.Close(), os.Mkdir(dir, 0o711)); err != nil {
		return d, err
	}
	if _, err := command("mkfs.ext4", "-q", "-F", "-O", "^has_journal", "-N", "4096", "-E", "lazy_itable_init=0,nodiscard",
		image); err != nil {
		return d, err
	}
	loop, err := command("losetup", "--find", "--show", image)
	if err != nil {
		return d, err
	}
	if err := syscall.Mount(loop, dir, "ext4", 0, ""); err != nil {
		return d, fmt.Errorf("mounting %s: %w", loop, err)
	}
	return device{filewise.Volume{Name: name, Dir: dir}, loop, speed}, nil
}

// limit throttles the volumes to their speeds.
func (s *storage) limit(t testing.TB) {
	t.Helper()
	for _, d := range s.slow {
		s.group.throttle(t, d.loop, d.speed)
	}
}

// lift ends the throttling.
func (s *storage) lift(t testing.TB) {
	t.Helper()
	for _, d := range s.slow {
		s.group.throttle(t, d.loop, speed{})
	}
}

// sync has every write to the files on the volumes that are there wait until it is
// on the device (chattr +S), but to those in directories of that name.
func (s *storage) sync(t testing.TB, but string) {
	t.Helper()
	for _, d := range s.slow {
		err := filepath.WalkDir(d.Dir, func(path string, e fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case e.Name() == but:
				return fs.SkipDir
			case e.Type().IsRegular():
				return writeThrough(path)
			}
			return nil
		})
		if err != nil {
			unable(t, "files of volume %s cannot be written through: %v", d.Name, err)
		}
	}
}

// syncFlag is FS_SYNC_FL of linux/fs.h.
const syncFlag = 0x8

func writeThrough(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) { // it was temporary
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	flags, err := unix.IoctlGetInt(int(f.Fd()), unix.FS_IOC_GETFLAGS)
	if err != nil {
		return err
	}
	return unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, flags|syncFlag)
}

// workDir is in memory where there is enough of it, so that what others do to the
// disks meanwhile does not matter.
func workDir() string {
	const name, room, tmpfsMagic = "filewise-planted", imageBytes, 0x01021994
	var fs syscall.Statfs_t
	if err := syscall.Statfs("/dev/shm", &fs); err == nil && fs.Type == tmpfsMagic && fs.Bavail*uint64(fs.Bsize) > room {
		return filepath.Join("/dev/shm", name)
	}
	return filepath.Join(os.TempDir(), name)
}

// lock keeps two runs of these tests on one machine apart. A killed run's lock is
// gone with it.
func lock(t testing.TB) {
	t.Helper()
	f, err := os.OpenFile("/run/filewise-planted.lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	for start := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return
		}
		if time.Since(start) > 3*time.Minute || !errors.Is(err, syscall.EWOULDBLOCK) {
			t.Fatalf("another run of these tests on this machine has %s locked: %v", f.Name(), err)
		}
	}
}

// need skips the test, or fails it in CI, where its storage cannot be made.
func need(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		unable(t, "only root can make throttled volumes")
	}
	for _, program := range []string{"fio", "losetup", "mkfs.ext4"} {
		if _, err := exec.LookPath(program); err != nil {
			unable(t, "install fio, mount and e2fsprogs: %v", err)
		}
	}
}

// unable ends a test whose truth cannot be planted here.
func unable(t testing.TB, format string, args ...any) {
	t.Helper()
	why := fmt.Sprintf(format, args...)
	if os.Getenv("CI") != "" {
		t.Fatalf("no truth can be planted on this machine: %s", why)
	}
	fmt.Fprintf(os.Stderr, "\n!!! %s is SKIPPED: %s\n\n", t.Name(), why)
	t.Skip(why)
}

// command runs a program and returns what it printed.
func command(name string, args ...string) (string, error) {
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out)), nil
}
