package filesystem

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// A server that refuses root runs as another user. Its processes can put links anywhere in its
// directories, in which Filewise works, too, possibly as root. So Filewise opens such files relative to the directory
// (os.Root), and no link leads out of it.

// OpenIn opens a regular file in a server's directory for reading.
func OpenIn(dir, path string) (*os.File, error) {
	f, err := OpenFileIn(dir, path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file", path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// OpenFileIn opens a file in a server's directory. If it is a pipe, OpenFileIn does not wait for the other end.
func OpenFileIn(dir, path string, flag int, perm fs.FileMode) (f *os.File, err error) {
	err = In(dir, path, func(root *os.Root, rel string) error {
		f, err = root.OpenFile(rel, flag|syscall.O_NONBLOCK, perm)
		return err
	})
	return f, err
}

// In opens dir, a server's directory, and calls do with it and with the relative path of path.
func In(dir, path string, do func(root *os.Root, rel string) error) error {
	rel, err := filepath.Rel(dir, path)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return do(root, rel)
}

// WriteIn creates or replaces a file in a server's directory. Only the owner of a new file can read or write it.
func WriteIn(dir, path string, content []byte) error {
	return In(dir, path, func(root *os.Root, rel string) error { return root.WriteFile(rel, content, 0o600) })
}

// RemoveIn removes a file or a tree in a server's directory. It is no error if the path does not exist.
func RemoveIn(dir, path string) error { return In(dir, path, (*os.Root).RemoveAll) }

// EvictIn drops the pages of a file in a server's directory from the operating system's cache. The file must have been
// synced.
func EvictIn(dir, path string) error {
	f, err := OpenIn(dir, path)
	if err != nil {
		return err
	}
	return errors.Join(Evict(f), f.Close())
}
