package planted

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"filewise"
	"golang.org/x/sys/unix"
)

// Name is the name of the directory, the cgroup and the lock of this process's storage: one name, one storage on a
// machine.
var Name = "filewise-planted"

// Storage is a directory that is not throttled, and volumes on loop devices that
// are, for the processes of a cgroup in which this one is.
type Storage struct {
	Data  filewise.Volume
	Slow  []Device
	group *group
	lock  *os.File
}

// Device is a volume on a loop device of its own.
type Device struct {
	filewise.Volume
	Loop string // /dev/loop3
	Speed
}

// Speed is the speed at which a device takes writes, and gives reads if Reads, a second. 0 means no limit. Sync has
// every write wait until it is on the device, for programs that never sync: version 1 of cgroups does not charge what
// the kernel's flusher writes.
type Speed struct {
	Bytes, Requests int64
	Reads, Sync     bool
}

// imageBytes is the size of a device, of which only what is written takes memory, and roomBytes what
// there has to be: more than a server that nothing throttles writes in a trial, its log included.
const (
	imageBytes = 16 << 30
	roomBytes  = 4 << 30
)

// ErrUnable is wrapped by errors of machines on which no truth can be planted.
var ErrUnable = errors.New("no truth can be planted on this machine")

func unable(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrUnable, fmt.Errorf(format, args...))
}

// New makes the storage, with a volume for each speed that is not throttled before Limit. What a killed
// run left is removed before.
func New(speeds ...Speed) (*Storage, error) {
	if err := Need(); err != nil {
		return nil, err
	}
	f, err := lock()
	if err != nil {
		return nil, err
	}
	root := workDir()
	s := &Storage{Data: filewise.Volume{Name: "data", Dir: filepath.Join(root, "data")}, lock: f}
	if err := sweep(root); err != nil {
		return nil, errors.Join(fmt.Errorf("what an earlier run left in %s cannot be removed: %w", root, err), f.Close())
	}
	if err := s.make(root, speeds); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Storage) make(root string, speeds []Speed) (err error) {
	if err := errors.Join(os.Mkdir(root, 0o711), os.Mkdir(s.Data.Dir, 0o711)); err != nil { // servers run as another user
		return err
	}
	for i, speed := range speeds {
		d, err := newDevice(root, string(rune('a'+i)), speed)
		if err != nil {
			return unable("a file system on a loop device cannot be made: %w", err)
		}
		s.Slow = append(s.Slow, d)
	}
	s.group, err = newGroup()
	return err
}

// Close removes the storage.
func (s *Storage) Close() error {
	root := workDir()
	if err := sweep(root); err != nil {
		return errors.Join(fmt.Errorf("cleaning up %s: %w", root, err), s.lock.Close())
	}
	return s.lock.Close()
}

// newDevice makes a file system on a loop device and mounts it. It has no journal, whose thread would write on its
// own behalf, past the throttle.
func newDevice(root, name string, speed Speed) (d Device, err error) {
	image, dir := filepath.Join(root, name+".img"), filepath.Join(root, name)
	f, err := os.OpenFile(image, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return d, err
	}
	if err := errors.Join(f.Truncate(imageBytes), f.Close(), os.Mkdir(dir, 0o711)); err != nil {
		return d, err
	}
	if _, err := command("mkfs.ext4", "-q", "-F", "-O", "^has_journal", "-N", "65536", "-E", "lazy_itable_init=0,nodiscard",
		image); err != nil {
		return d, err
	}
	loop, err := command("losetup", "--find", "--show", image)
	if err != nil {
		return d, err
	}
	var flags uintptr
	if speed.Sync {
		flags = syscall.MS_SYNCHRONOUS
	}
	if err := syscall.Mount(loop, dir, "ext4", flags, ""); err != nil {
		return d, fmt.Errorf("mounting %s: %w", loop, err)
	}
	return Device{filewise.Volume{Name: name, Dir: dir}, loop, speed}, nil
}

// Limit throttles the volumes to their speeds.
func (s *Storage) Limit() error {
	return s.throttle(func(d Device) Speed { return d.Speed })
}

// Lift ends the throttling.
func (s *Storage) Lift() error { return s.throttle(func(Device) Speed { return Speed{} }) }

func (s *Storage) throttle(to func(Device) Speed) error {
	for _, d := range s.Slow {
		if err := s.group.throttle(d.Loop, to(d)); err != nil {
			return err
		}
	}
	return nil
}

// WriteThrough has every write to the present files on the volumes wait until it is on the device (chattr +S), except
// in directories of that name.
func (s *Storage) WriteThrough(but string) error {
	for _, d := range s.Slow {
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
			return unable("files of volume %s cannot be written through: %w", d.Name, err)
		}
	}
	return nil
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

// workDir is in memory if there is enough of it, so that others' work on the disks does not matter.
func workDir() string {
	const tmpfsMagic = 0x01021994
	var fs syscall.Statfs_t
	if err := syscall.Statfs("/dev/shm", &fs); err == nil && fs.Type == tmpfsMagic && fs.Bavail*uint64(fs.Bsize) > roomBytes {
		return filepath.Join("/dev/shm", Name)
	}
	return filepath.Join(os.TempDir(), Name)
}

// lock keeps two runs on one machine apart. A killed run's lock is gone with it.
func lock() (*os.File, error) {
	f, err := os.OpenFile(filepath.Join("/run", Name+".lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for start := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return f, nil
		}
		if time.Since(start) > 3*time.Minute || !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, errors.Join(fmt.Errorf("another run on this machine has %s locked: %w", f.Name(), err), f.Close())
		}
	}
}

// Need returns why storage cannot be made here. Nil means it can.
func Need() error {
	if os.Geteuid() != 0 {
		return unable("only root can make throttled volumes")
	}
	for _, program := range []string{"fio", "losetup", "mkfs.ext4"} {
		if _, err := exec.LookPath(program); err != nil {
			return unable("install fio, mount and e2fsprogs: %w", err)
		}
	}
	return nil
}

// command runs a program and returns its output.
func command(name string, args ...string) (string, error) {
	out, err := exec.CommandContext(context.Background(), name, args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out)), nil
}
