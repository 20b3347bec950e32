package filesystem

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// mostLinks limits the links in one path, as the kernel does.
const mostLinks = 40

// settle opens the directory of a path's file, through no link that another user except root has made, and returns a
// path to the file in it. The open directory stays the checked one, even if another takes its place later. The
// caller closes it.
func settle(path string) (within string, dir *os.File, err error) {
	fail := func(err error) (string, *os.File, error) {
		return "", nil, errors.Join(&fs.PathError{Op: "open", Path: path, Err: err}, dir.Close())
	}
	from := "."
	if filepath.IsAbs(path) {
		from = "/"
	}
	if dir, err = beneath(nil, from); err != nil {
		return "", nil, err
	}
	names, links := strings.Split(path, "/"), 0
	for {
		names = slices.DeleteFunc(names, func(name string) bool { return name == "" || name == "." })
		if len(names) == 0 {
			return fail(unix.EISDIR)
		}
		name := names[0]
		next, err := beneath(dir, name)
		if errors.Is(err, unix.ENOENT) && len(names) == 1 {
			return handle(dir, name), dir, nil
		}
		if err != nil {
			return fail(err)
		}
		info, err := next.Stat()
		switch {
		case err != nil:
		case info.Mode()&fs.ModeSymlink != 0:
			var to string
			if links++; links > mostLinks {
				err = unix.ELOOP
			} else if !trusted(info) {
				err = fmt.Errorf("%s is a link that another user has made", name)
			} else if to, err = read(next); err == nil && len(names) == 1 && !filepath.IsAbs(to) && ofProcess(dir) {
				return handle(dir, name), dir, next.Close() // an open pipe
			}
			if filepath.IsAbs(to) && err == nil {
				dir.Close()
				dir, err = beneath(nil, "/")
			}
			names = append(strings.Split(to, "/"), names[1:]...)
		case len(names) == 1:
			return handle(dir, name), dir, next.Close()
		default:
			dir.Close()
			dir, next, names = next, nil, names[1:]
		}
		if next.Close(); err != nil {
			return fail(err)
		}
	}
}

// handle returns a path to a name in an open directory that holds even if the directory is renamed.
func handle(dir *os.File, name string) string {
	return fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), name)
}

// beneath opens a name in a directory only to look at it. It opens a link itself.
func beneath(dir *os.File, name string) (*os.File, error) {
	at := unix.AT_FDCWD
	if dir != nil {
		at = int(dir.Fd())
	}
	for {
		fd, err := unix.Openat(at, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if !errors.Is(err, unix.EINTR) {
			if err != nil {
				return nil, err
			}
			return os.NewFile(uintptr(fd), name), nil
		}
	}
}

// read returns the target of an open link.
func read(link *os.File) (string, error) {
	b := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(int(link.Fd()), "", b)
	return string(b[:max(n, 0)]), err
}

// ofProcess reports whether a directory is one of the kernel's, in which links to open files show no path.
func ofProcess(dir *os.File) bool {
	var s unix.Statfs_t
	return unix.Fstatfs(int(dir.Fd()), &s) == nil && s.Type == unix.PROC_SUPER_MAGIC
}
