package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// HasOpen reports whether a process has a file open. The error wraps fs.ErrPermission if the process is another user's.
func HasOpen(pid int, file os.FileInfo) (bool, error) {
	return anyOpen(pid, func(descriptor string) bool {
		info, err := os.Stat(descriptor)
		return err == nil && os.SameFile(info, file)
	})
}

// HasSocket reports whether a process has the socket with this inode open. Its errors are like HasOpen's.
func HasSocket(pid int, inode uint64) (bool, error) {
	name := fmt.Sprintf("socket:[%d]", inode)
	return anyOpen(pid, func(descriptor string) bool {
		to, err := os.Readlink(descriptor)
		return err == nil && to == name
	})
}

func anyOpen(pid int, is func(descriptor string) bool) (bool, error) {
	dir := filepath.Join("/proc", strconv.Itoa(pid), "fd")
	open, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || gone(err) {
		return false, nil
	}
	for _, f := range open {
		if is(filepath.Join(dir, f.Name())) {
			return true, nil
		}
	}
	return false, err
}
