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

// Name is the name of the storage's directory, cgroup and lock, so that a machine has one storage per name.
var Name = "filewise-planted"

// Storage holds a directory that is not throttled, and volumes on loop devices that are throttled for the processes of
// a cgroup. This process is in the cgroup.
type Storage struct {
	Data  filewise.Volume
	Slow  []Device
	group *group
	lock  *os.File
}

// Device is a volume on its own loop device.
type Device struct {
	filewise.Volume
	Loop string // /dev/loop3
	Speed
}

// Speed limits a device's writes per second and, if Reads is set, its reads too. 0 means no limit. Sync makes every
// write wait until it is on the device, for programs that never sync: version 1 of cgroups does not charge what the
// kernel's flusher writes.
type Speed struct {
	Bytes, Requests int64
	Reads, Sync     bool
}

// imageBytes is the size of a device, of which only written parts take memory. roomBytes is the memory that must be
// free: more than a server without throttling writes in a trial, its log included.
const (
	imageBytes = 16 << 30
	roomBytes  = 4 << 30
)

// ErrUnable is wrapped by errors on machines that cannot have storage of planted speed.
var ErrUnable = errors.New("no truth can be planted on this machine")

func unable(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrUnable, fmt.Errorf(format, args...))
}

// New removes what a killed run has left, and makes the storage with a volume for each speed. Volumes are throttled
// only after Limit.
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

// newDevice makes a file system on a loop device and mounts it. The file system has no journal, whose thread would
// write on its own account, past the throttle.
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

// WriteThrough makes every write to the volumes' present files wait until it is on the device (chattr +S), except in
// directories named but.
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
	if errors.Is(err, fs.ErrNotExist) { // the file was temporary
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

// workDir returns a directory in memory if there is enough, so that others' use of the disks does not matter.
func workDir() string {
	const tmpfsMagic = 0x01021994
	var fs syscall.Statfs_t
	if err := syscall.Statfs("/dev/shm", &fs); err == nil && fs.Type == tmpfsMagic && fs.Bavail*uint64(fs.Bsize) > roomBytes {
		return filepath.Join("/dev/shm", Name)
	}
	return filepath.Join(os.TempDir(), Name)
}

// lock keeps two runs on one machine apart. The lock ends with a killed run.
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

// Need returns the reason why storage cannot be made here, or nil if it can.
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
