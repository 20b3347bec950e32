package hostlock

import (
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// sharedDir returns the directory for the lock's file. It is not the one for temporary files, of which each user has
// another.
func sharedDir() string {
	if dir, err := windows.KnownFolderPath(windows.FOLDERID_ProgramData, 0); err == nil {
		return dir
	}
	return os.TempDir()
}

// everyone gives all users of the host the right to read and write a file.
const everyone = "D:(A;;GRGW;;;WD)(A;;FA;;;OW)(A;;FA;;;BA)"

// openShared opens the lock's file for all users of the host. It does not follow a link in the file's place.
func openShared(path string) (*os.File, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	rights, err := windows.SecurityDescriptorFromString(everyone)
	if err != nil {
		return nil, err
	}
	attributes := windows.SecurityAttributes{SecurityDescriptor: rights}
	attributes.Length = uint32(unsafe.Sizeof(attributes))
	h, err := windows.CreateFile(name, windows.GENERIC_READ|windows.GENERIC_WRITE, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE,
		&attributes, windows.OPEN_ALWAYS, windows.FILE_ATTRIBUTE_NORMAL|windows.FILE_FLAG_OPEN_REPARSE_POINT, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(h), path), nil
}
