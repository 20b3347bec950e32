package filesystem

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"unsafe"

	"golang.org/x/sys/windows"

	"filewise"
)

// Free returns the bytes that this user can still write to dir's volume, within the user's quota.
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

// Size returns the size of dir's volume, in bytes.
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

// Full reports whether an error means that storage or a quota is used up.
func Full(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL) ||
		errors.Is(err, windows.ERROR_DISK_QUOTA_EXCEEDED)
}

const everyShare = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE

// Allocated returns the storage of a file, in bytes (FILE_STANDARD_INFO).
func Allocated(path string, _ fs.FileInfo) (bytes int64, ok bool) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return 0, false
	}
	h, err := windows.CreateFile(name, windows.FILE_READ_ATTRIBUTES, everyShare, nil, windows.OPEN_EXISTING,
		windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
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

// Owner returns nothing, since users have no numbers here. Stranger checks an open file.
func Owner(fs.FileInfo) (uid, gid uint32, ok bool) { return 0, 0, false }

// PlaceOf returns a directory's place: its volume's serial number and unique name, and its own number on the volume,
// which NTFS and ReFS keep.
func PlaceOf(dir string) (p Place, err error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return p, err
	}
	h, err := windows.CreateFile(name, windows.FILE_READ_ATTRIBUTES, everyShare, nil, windows.OPEN_EXISTING,
		windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return p, &fs.PathError{Op: "open", Path: dir, Err: err}
	}
	defer windows.CloseHandle(h) //nolint:errcheck // nothing was written by it
	var info windows.ByHandleFileInformation
	if windows.GetFileInformationByHandle(h, &info) != nil {
		return p, nil // unknown
	}
	root, kind, _ := volumeOf(dir)
	p.Device = uint64(info.VolumeSerialNumber)
	if kind == "NTFS" || kind == "ReFS" {
		p.Inode = uint64(info.FileIndexHigh)<<32 | uint64(info.FileIndexLow)
	}
	unique := make([]uint16, 64) // \\?\Volume{GUID}\ has 49 characters
	if windows.GetVolumeNameForVolumeMountPoint(root, &unique[0], uint32(len(unique))) == nil {
		p.System = windows.UTF16ToString(unique)
	}
	return p, nil
}

// ReadOnly reports whether the volume of a directory is write-protected.
func ReadOnly(dir string) bool {
	_, _, flags := volumeOf(dir)
	return flags&windows.FILE_READ_ONLY_VOLUME != 0
}

// volumeOf returns the root of a directory's volume, the kind of its file system, and its flags. The root is an empty
// name if it is not known.
func volumeOf(dir string) (root *uint16, kind string, flags uint32) {
	path := make([]uint16, windows.MAX_LONG_PATH)
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil || windows.GetVolumePathName(name, &path[0], uint32(len(path))) != nil {
		return &path[0], "", 0
	}
	fileSystem := make([]uint16, windows.MAX_PATH+1)
	if windows.GetVolumeInformation(&path[0], nil, 0, nil, nil, &flags, &fileSystem[0], uint32(len(fileSystem))) != nil {
		flags = 0
	}
	return &path[0], windows.UTF16ToString(fileSystem), flags
}

// descriptor returns a file's security descriptor in SDDL: its owner and its list of rights.
func descriptor(f *os.File) (string, error) {
	sd, err := windows.GetSecurityInfo(windows.Handle(f.Fd()), windows.SE_FILE_OBJECT,
		windows.OWNER_SECURITY_INFORMATION|windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return "", &fs.PathError{Op: "GetSecurityInfo", Path: f.Name(), Err: err}
	}
	return sd.String(), nil
}

// self returns this user's SID.
func self() (string, error) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return "", fmt.Errorf("GetTokenUser: %w", err)
	}
	return user.User.Sid.String(), nil
}

// shared returns an error for a file that everybody may read or write, or that belongs to another user.
func shared(f *os.File, _ fs.FileInfo) error {
	rights, err := descriptor(f)
	if err != nil {
		return err
	}
	if group := openTo(rights); group != "" {
		return fmt.Errorf("%s (%s): %w", f.Name(), group, ErrShared)
	}
	who, err := Stranger(f)
	if err == nil && who != "" {
		err = fmt.Errorf("%s (%s): %w", f.Name(), who, ErrForeign)
	}
	return err
}

// alone returns the command that removes all others' rights to a file.
func alone(path string) string {
	me, err := self()
	if err != nil {
		return "take the rights of others away in its properties"
	}
	return filewise.CommandLine("icacls", path, "/inheritance:r", "/grant:r", "*"+me+":F")
}

// Stranger returns the owner of an open file if it is neither this user nor an administrator. It is empty otherwise.
func Stranger(f *os.File) (who string, err error) {
	rights, err := descriptor(f)
	if err != nil {
		return "", err
	}
	me, err := self()
	if err != nil {
		return "", err
	}
	who = foreign(rights, me)
	if sid, err := windows.StringToSid(who); who != "" && err == nil {
		if account, domain, _, err := sid.LookupAccount(""); err == nil {
			who = domain + `\` + account
		}
	}
	return who, nil
}

// MakePrivate gives a new file or directory, and everything made in it, to this user, administrators and the system
// alone. On a file system without such rights, it does nothing.
func MakePrivate(path string) error {
	if _, _, flags := volumeOf(path); flags&windows.FILE_PERSISTENT_ACLS == 0 {
		return nil
	}
	me, err := self()
	if err != nil {
		return err
	}
	inherited := ""
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		inherited = "OICI"
	}
	sd, err := windows.SecurityDescriptorFromString(fmt.Sprintf("D:P(A;%s;FA;;;SY)(A;%[1]s;FA;;;BA)(A;%[1]s;FA;;;%s)", inherited, me))
	if err != nil {
		return err
	}
	list, _, err := sd.DACL()
	if err != nil {
		return err
	}
	err = windows.SetNamedSecurityInfo(path, windows.SE_FILE_OBJECT,
		windows.DACL_SECURITY_INFORMATION|windows.PROTECTED_DACL_SECURITY_INFORMATION, nil, nil, list, nil)
	if err != nil {
		return &fs.PathError{Op: "SetNamedSecurityInfo", Path: path, Err: err}
	}
	return nil
}

// OpenItself opens a file for reading, but not the target of a link in its place.
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

// SyncFile syncs a file to the storage. The file has to be open for writing for that.
func SyncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// InUse reports whether another program has a file open without sharing it.
func InUse(path string) bool {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err == nil {
		err = f.Close()
	}
	return errors.Is(err, windows.ERROR_SHARING_VIOLATION)
}

// SyncDir does nothing: NTFS and ReFS journal names.
func SyncDir(string) error { return nil }

// SyncAround is unsupported: only administrators may sync a volume.
func SyncAround(string) error { return errors.ErrUnsupported }

// Preallocate gives a file its full size and the storage for it, without writing. The error wraps
// errors.ErrUnsupported if the file system cannot do that.
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
