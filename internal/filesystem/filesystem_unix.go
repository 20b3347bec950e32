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

// Free is the space in bytes that an ordinary user may still write to the file
// system of dir, without what is reserved for root.
func Free(dir string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, &fs.PathError{Op: "statfs", Path: dir, Err: err}
	}
	return int64(s.Bavail) * int64(s.Bsize), nil
}

// Size is the size of dir's file system, in bytes.
func Size(dir string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, &fs.PathError{Op: "statfs", Path: dir, Err: err}
	}
	return int64(s.Blocks) * int64(s.Bsize), nil
}

// Full reports whether an error comes from storage, or a quota, without room.
func Full(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }

// Allocated returns the storage of a file, in bytes: st_blocks counts units of 512 bytes (stat(2)).
func Allocated(_ string, info fs.FileInfo) (bytes int64, ok bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int64(s.Blocks) * 512, true
}

// Owner is whom a file belongs to.
func Owner(info fs.FileInfo) (uid, gid uint32, ok bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return s.Uid, s.Gid, true
}

// shared refuses a file that everybody may read or write.
func shared(f *os.File, info fs.FileInfo) error {
	if info.Mode().Perm()&0o006 != 0 {
		return fmt.Errorf("%s (%v): %w", f.Name(), info.Mode().Perm(), ErrShared)
	}
	return nil
}

// alone is the command that takes all others' rights to a file.
func alone(path string) string { return filewise.CommandLine("chmod", "600", path) }

// Stranger is whom an open file belongs to if that is not this user. Empty means it does, or that is unknown.
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

// MakePrivate takes others' rights to a new file or directory, which its mode has done here.
func MakePrivate(string) error { return nil }

// OpenItself opens a file to read what it holds, but neither what a link in its
// place points to nor, waiting for a writer, a pipe.
func OpenItself(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
}

// SyncFile brings what was written to a file to the storage.
func SyncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// SyncDir makes the names within a directory durable, if the file system can do that.
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
