package filesystem

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"filewise/internal/fault"
)

// errHeld means that another program has the old file open. A directory without rights gives the same error of Windows.
var errHeld = errors.New("another program has it open")

// pathless returns an error without the names in it, of handles and part files.
func pathless(err error) error {
	var place *fs.PathError
	var places *os.LinkError
	switch {
	case errors.As(err, &place):
		return place.Err
	case errors.As(err, &places):
		return places.Err
	}
	return err
}

// WriteFile renders to a new file next to the file, then renames it. So the path always has the old file or the
// complete new one, with the old one's rights. What is not a regular file, such as /dev/null or a pipe, is written to,
// and never replaced. WriteFile follows links that this user, or root, has made.
func WriteFile(path string, render func(io.Writer) error) (err error) {
	held := false
	defer func() {
		if err = pathless(err); held {
			err = fmt.Errorf("%w: %w", errHeld, err)
		}
	}()
	err = CheckName(path)
	if err == nil {
		err = Hangs(path)
	}
	if err != nil {
		return err
	}
	path, dir, err := settle(path)
	if err != nil {
		return err
	}
	defer dir.Close() // nil if there is none
	info, err := os.Stat(path)
	switch {
	case err == nil && info.Mode().IsRegular() && !trusted(info):
		return errors.New("it belongs to another user")
	case err == nil && !info.Mode().IsRegular():
		_, err := Await(func() (struct{}, error) {
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				return struct{}{}, err
			}
			return struct{}{}, errors.Join(render(f), f.Close())
		})
		return err
	}
	removeParts(path)
	part := fmt.Sprintf("%s.%d.part", path, os.Getpid())
	mode := fs.FileMode(0o666)
	if info != nil {
		mode = 0o600 // until it has the rights of the old one
	}
	f, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	if err = LockPatiently(f); errors.Is(err, errors.ErrUnsupported) {
		err = nil // without locks, no other process takes it for a leftover of a killed one
	}
	if err == nil && info != nil {
		err = f.Chmod(info.Mode().Perm())
	}
	if err == nil {
		err = render(f)
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = Insist(func() error { return os.Rename(part, path) })
		held = fault.HeldOpen(err)
	}
	if err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return nil
}

// NotWritten returns the remedy for an error of WriteFile on the file that --output names.
func NotWritten(err error) string {
	if errors.Is(err, errHeld) {
		return "close the program that has it open, or name another file with --output"
	}
	if errors.Is(err, ErrHangs) {
		return "bring the volume back (mount, daemon, network), or name another file"
	}
	if f, ok := fault.Of(err); ok {
		return f.Remedy + "; or name another file"
	}
	return "name a file in a directory that you may write to"
}

// removeParts removes what killed writers of a file have left: parts that no process has locked.
func removeParts(path string) {
	parts, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*.part"))
	for _, part := range parts {
		number, ours := strings.CutPrefix(strings.TrimSuffix(part, ".part"), path+".")
		if _, err := strconv.ParseUint(number, 10, 32); !ours || err != nil {
			continue
		}
		info, err := os.Lstat(part)
		if err != nil || !info.Mode().IsRegular() || !trusted(info) {
			continue
		}
		f, err := os.OpenFile(part, os.O_RDWR, 0)
		if err != nil {
			continue
		}
		locked, err := Locked(f)
		if f.Close(); err == nil && !locked {
			_ = os.Remove(part) // otherwise the next writer removes it
		}
	}
}

// trusted reports whether a file belongs to this user or to root.
func trusted(info fs.FileInfo) bool {
	uid, _, known := Owner(info)
	return !known || uid == 0 || int(uid) == os.Geteuid()
}
