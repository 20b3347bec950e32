//go:build unix

package filesystem

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"filewise"
)

// Free returns the bytes that an ordinary user can still write to dir's file system, without the part reserved for
// root.
func Free(dir string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, &fs.PathError{Op: "statfs", Path: dir, Err: err}
	}
	return int64(s.Bavail) * int64(s.Bsize), nil
}

// Size returns the size of dir's file system, in bytes.
func Size(dir string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, &fs.PathError{Op: "statfs", Path: dir, Err: err}
	}
	return int64(s.Blocks) * int64(s.Bsize), nil
}

// Full reports whether an error means that storage or a quota is used up.
func Full(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }

// Allocated returns the storage of a file, in bytes: st_blocks counts units of 512 bytes (stat(2)).
func Allocated(_ string, info fs.FileInfo) (bytes int64, ok bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int64(s.Blocks) * 512, true
}

// Owner returns the user and the group that a file belongs to.
func Owner(info fs.FileInfo) (uid, gid uint32, ok bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return s.Uid, s.Gid, true
}

// shared returns an error for a file that everybody may read or write.
func shared(f *os.File, info fs.FileInfo) error {
	if info.Mode().Perm()&0o006 != 0 {
		return fmt.Errorf("%s (%v): %w", f.Name(), info.Mode().Perm(), ErrShared)
	}
	return nil
}

// alone returns the command that removes all others' rights to a file.
func alone(path string) string { return filewise.CommandLine("chmod", "600", path) }

// Stranger returns the owner of an open file if it is another user than this one. It is empty otherwise, or if the
// owner is unknown.
func Stranger(f *os.File) (who string, err error) {
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if uid, _, ok := Owner(info); ok && int(uid) != os.Geteuid() {
		return fmt.Sprintf("uid %d", uid), nil
	}
	return "", nil
}

// InUse returns false: a program cannot keep a file from others here.
func InUse(string) bool { return false }

// MakePrivate removes others' rights to a new file or directory. Here the file's mode has done that.
func MakePrivate(string) error { return nil }

// OpenItself opens a file for reading. It does not follow a link in the file's place, and does not wait for the writer
// of a pipe.
func OpenItself(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
}

// SyncFile syncs a file to the storage.
func SyncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// SyncDir makes the names in a directory durable, if the file system can do that.
func SyncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOTSUP) {
		return err
	}
	return nil
}
