package filesystem

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Free is the space in bytes that this user may still write to the volume of dir,
// within the user's quota.
func Free(dir string) (int64, error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(name, &free, nil, nil); err != nil {
		return 0, &fs.PathError{Op: "GetDiskFreeSpaceEx", Path: dir, Err: err}
	}
	return int64(free), nil
}

// Size is that of the volume of dir, in bytes.
func Size(dir string) (int64, error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var size uint64
	if err := windows.GetDiskFreeSpaceEx(name, nil, &size, nil); err != nil {
		return 0, &fs.PathError{Op: "GetDiskFreeSpaceEx", Path: dir, Err: err}
	}
	return int64(size), nil
}

// Full says whether an error is that of storage, or a quota, without room.
func Full(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL) ||
		errors.Is(err, windows.ERROR_DISK_QUOTA_EXCEEDED)
}

// Allocated is what the storage holds of a file, in bytes (FILE_STANDARD_INFO).
func Allocated(path string, _ fs.FileInfo) (bytes int64, ok bool) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return 0, false
	}
	const shared = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	h, err := windows.CreateFile(name, windows.FILE_READ_ATTRIBUTES, shared, nil, windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return 0, false
	}
	defer windows.CloseHandle(h) //nolint:errcheck // nothing was written by it
	var info struct {
		allocation, end    int64
		links              uint32
		deleted, directory byte
	}
	err = windows.GetFileInformationByHandleEx(h, windows.FileStandardInfo, (*byte)(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	return info.allocation, err == nil
}

// Owner is unknown: rights are lists here, and the user's directories are closed
// to others by theirs.
func Owner(fs.FileInfo) (uid, gid uint32, ok bool) { return 0, 0, false }

// PlaceOf is unknown: volumes have letters here, and a missing one has no directory.
func PlaceOf(string) (Place, error) { return Place{}, nil }

// ReadOnly is not looked for.
func ReadOnly(string) bool { return false }

// OpenItself opens a file to read what it holds, but not what a link in its place
// points to.
func OpenItself(path string) (*os.File, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if now, err := f.Stat(); err != nil || !os.SameFile(info, now) {
		return nil, errors.Join(fmt.Errorf("%s is a link", path), err, f.Close())
	}
	return f, nil
}

// SyncFile brings what was written to a file to the storage, for which it has to be
// open for writing.
func SyncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// SyncDir does nothing: NTFS and ReFS journal names, and directories cannot be
// synced.
func SyncDir(string) error { return nil }

// SyncAround is unsupported: only administrators may sync a volume.
func SyncAround(string) error { return errors.ErrUnsupported }

// Preallocate gives a file its full size and the storage for it, without writing.
// The error wraps errors.ErrUnsupported where the file system cannot do that.
func Preallocate(f *os.File, size int64) error {
	err := windows.SetFileInformationByHandle(windows.Handle(f.Fd()), windows.FileAllocationInfo, (*byte)(unsafe.Pointer(&size)),
		uint32(unsafe.Sizeof(size)))
	switch {
	case errors.Is(err, windows.ERROR_INVALID_FUNCTION) || errors.Is(err, windows.ERROR_INVALID_PARAMETER) ||
		errors.Is(err, windows.ERROR_CALL_NOT_IMPLEMENTED):
		return errors.Join(errors.ErrUnsupported, err)
	case err != nil:
		return err
	}
	return f.Truncate(size)
}
