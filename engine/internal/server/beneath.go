package server

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// A server that refuses root runs as another user, whose processes can put links
// anywhere in its directories, while Filewise, which works there too, can be root. So
// what lies in such a directory is opened beneath it, and no link leads out of it.

// OpenIn opens a regular file to read it that lies in a server's directory.
func OpenIn(dir, path string) (*os.File, error) {
	f, err := openIn(dir, path, os.O_RDONLY, 0)
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

// openIn opens a file that lies in a server's directory; it waits for no pipe's other
// end.
func openIn(dir, path string, flag int, perm fs.FileMode) (f *os.File, err error) {
	err = In(dir, path, func(root *os.Root, rel string) error {
		f, err = root.OpenFile(rel, flag|syscall.O_NONBLOCK, perm)
		return err
	})
	return f, err
}

// In calls do with a server's directory and a path's place beneath it.
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

// MakeIn makes a new file that lies in a server's directory, for its owner alone.
func MakeIn(dir, path string) (*os.File, error) {
	return openIn(dir, path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

// WriteIn makes or replaces a file that lies in a server's directory, for its owner
// alone.
func WriteIn(dir, path string, content []byte) error {
	return In(dir, path, func(root *os.Root, rel string) error { return root.WriteFile(rel, content, 0o600) })
}

// RemoveIn removes a file or a tree that lies in a server's directory; that it is not
// there is no error.
func RemoveIn(dir, path string) error { return In(dir, path, (*os.Root).RemoveAll) }
