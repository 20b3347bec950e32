package postgres

import (
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"filewise"
	"filewise/engine/internal/managed"
	"filewise/internal/filesystem"
)

// account is whom the private server runs as. PostgreSQL refuses root: then it is
// the user postgres where there is one, else nobody. The zero value is Filewise's
// own user.
type account struct {
	name string
	as   *managed.User
}

func serverAccount() (account, error) {
	if os.Geteuid() != 0 {
		return account{}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil || uid == 0 {
			continue
		}
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		if err != nil {
			continue
		}
		return account{name, &managed.User{UID: uint32(uid), GID: uint32(gid)}}, nil
	}
	return account{}, filewise.Errorf(filewise.CodePreflight, "run Filewise as an ordinary user", "PostgreSQL does not run as root, and there is neither a user postgres nor nobody to run it as")
}

// own gives a tree that Filewise has made to the server's user.
func (a account) own(root string) error {
	if a.as == nil {
		return nil
	}
	return filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if uid, gid, ok := filesystem.Owner(info); ok && uid == a.as.UID && gid == a.as.GID {
			return nil // a change would move ctime, by which a reset knows what was written
		}
		return os.Lchown(path, int(a.as.UID), int(a.as.GID))
	})
}

// doors are how the server reaches its directories. Their parents, Filewise's
// scratch directory and the user's own ones above it, may be closed to the server's
// user, and none is opened for it: it inherits each directory as an open file, and
// goes in through that. Nor do names that PostgreSQL refuses (a tablespace's place
// may hold no quote) or the length of paths matter then.
type doors struct {
	dirs  []string
	files []*os.File
}

// openDoors opens the directories. Systems without /proc have no doors.
func (a account) openDoors(dirs []string) (*doors, error) {
	d := &doors{dirs: dirs}
	if runtime.GOOS != "linux" {
		return d, a.reachable(dirs)
	}
	for _, dir := range dirs {
		f, err := os.Open(dir)
		if err != nil {
			d.close()
			return nil, filewise.Errorf(filewise.CodePreflight, "", "directory of the server: %w", err)
		}
		d.files = append(d.files, f)
	}
	return d, nil
}

// reachable refuses directories that the server's user cannot reach, where there
// are no doors.
func (a account) reachable(dirs []string) error {
	if a.as == nil {
		return nil
	}
	for _, dir := range dirs {
		for up := filepath.Dir(dir); ; up = filepath.Dir(up) {
			if info, err := os.Stat(up); err == nil && info.Mode()&0o001 == 0 {
				return filewise.Errorf(filewise.CodePreflight, "name a volume that all users can reach, or run Filewise as an ordinary user",
					"PostgreSQL does not run as root, and its user %s cannot reach %s: %s is closed to it", a.name, dir, up)
			}
			if up == filepath.Dir(up) {
				break
			}
		}
	}
	return nil
}

func (d *doors) close() {
	for _, f := range d.files {
		f.Close()
	}
	d.files = nil
}

// path is a path as the server can use it. Inherited files begin at descriptor 3,
// and every process of the server has them.
func (d *doors) path(path string) string {
	for i, dir := range d.dirs {
		if rest, ok := strings.CutPrefix(path, dir); ok && i < len(d.files) && (rest == "" || rest[0] == '/') {
			return fmt.Sprintf("/proc/self/fd/%d%s", 3+i, rest)
		}
	}
	return path
}

// inside is the first directory, for a process to begin in: there it is known as
// Filewise's while its environment cannot be read.
func (d *doors) inside() string {
	if len(d.files) > 0 { // before it inherits them, it has them under Filewise's numbers
		return fmt.Sprintf("/proc/self/fd/%d", d.files[0].Fd())
	}
	return d.dirs[0]
}

// runnable refuses binaries that the server's user cannot run, such as those
// under root's own home.
func (a account) runnable(in install) error {
	if a.as == nil {
		return nil
	}
	real, err := filepath.EvalSymlinks(in.postgres())
	if err != nil {
		return filewise.Errorf(filewise.CodePreflight, "", "%w", err)
	}
	for path := real; path != filepath.Dir(path); path = filepath.Dir(path) {
		info, err := os.Stat(path)
		if err != nil {
			return filewise.Errorf(filewise.CodePreflight, "", "%w", err)
		}
		uid, _, ok := filesystem.Owner(info)
		if info.Mode()&0o001 != 0 || !ok || uid == a.as.UID && info.Mode()&0o100 != 0 {
			continue
		}
		return filewise.Errorf(filewise.CodePreflight, "install it where every user can run it (scripts/get-postgres does, as root), or run Filewise as an ordinary user",
			"PostgreSQL does not run as root, and its user %s cannot run %s: %s is closed to it", a.name, in.postgres(), path)
	}
	return nil
}
