//go:build unix

package server

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"filewise"
	"filewise/internal/filesystem"
)

// Give makes the server's user the owner of a file or tree in a server's directory, or of the directory itself. What
// the user owns already is not touched: a new ctime would make a reset copy it again. Give refuses a file with a second
// hard link, because the other name can lie anywhere.
func Give(dir, path string, to *User) error {
	return filesystem.In(dir, path, func(root *os.Root, rel string) error {
		return fs.WalkDir(root.FS(), filepath.ToSlash(rel), func(rel string, _ fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			return give(root, rel, to)
		})
	})
}

func give(root *os.Root, rel string, to *User) error {
	info, err := root.Lstat(rel)
	if err != nil {
		return err
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case ok && s.Uid == to.UID && s.Gid == to.GID:
		return nil
	case ok && info.Mode().IsRegular() && s.Nlink > 1:
		return fmt.Errorf("%s is not given to the server's user: it has another name, too", filepath.Join(root.Name(), rel))
	}
	err = root.Lchown(rel, int(to.UID), int(to.GID))
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.EPERM) {
		return filewise.Errorf(filewise.CodePreflight, "run Filewise as an ordinary user there, who is not root in the container",
			"%s cannot be given to the server's user (id %d), who is unknown in this container: %w", filepath.Join(root.Name(), rel), to.UID, err)
	}
	return err
}
