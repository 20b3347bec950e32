package installed

import (
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"

	"filewise"
	"filewise/engine/internal/server"
	"filewise/internal/filesystem"
)

// Account is whom the managed server runs as. PostgreSQL refuses root: then it is
// the user postgres, never one that other services share, such as nobody, who could
// all write to the server's files. The zero value is Filewise's own user.
type Account struct {
	Name string
	As   *server.User
}

// NewAccount is whom a server runs as that is started now. Errors have code preflight.
func NewAccount() (Account, error) {
	if os.Geteuid() != 0 {
		return Account{}, nil
	}
	const name = "postgres"
	u, err := user.Lookup(name)
	if err != nil {
		return Account{}, noAccount(err)
	}
	uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
	if err := errors.Join(err1, err2); err != nil || uid == 0 {
		return Account{}, noAccount(err)
	}
	return Account{name, &server.User{UID: uint32(uid), GID: uint32(gid)}}, nil
}

func noAccount(err error) error {
	return filewise.Errorf(filewise.CodePreflight, "run Filewise as an ordinary user, or make one: useradd --system postgres",
		"PostgreSQL does not run as root, and there is no user postgres to run it as: %w", err)
}

// Give gives a tree that Filewise has made in a directory of the server to its user.
func (a Account) Give(dir, path string) error {
	if a.As == nil {
		return nil
	}
	return server.Give(dir, path, a.As)
}

// Open opens directories of the server, so that its user can reach them.
func (a Account) Open(dirs []string) (*server.Handles, error) {
	if runtime.GOOS != "linux" {
		if err := a.reachable(dirs); err != nil {
			return nil, err
		}
	}
	return server.OpenHandles(dirs)
}

// reachable refuses directories that the server's user cannot reach, where they cannot be
// handed over open.
func (a Account) reachable(dirs []string) error {
	if a.As == nil {
		return nil
	}
	for _, dir := range dirs {
		for up := filepath.Dir(dir); ; up = filepath.Dir(up) {
			if info, err := os.Stat(up); err == nil && info.Mode()&0o001 == 0 {
				return filewise.Errorf(filewise.CodePreflight, "name a volume that all users can reach, or run Filewise as an ordinary user",
					"PostgreSQL does not run as root, and its user %s cannot reach %s: %s is closed to it", a.Name, dir, up)
			}
			if up == filepath.Dir(up) {
				break
			}
		}
	}
	return nil
}

// Runnable refuses binaries that the server's user cannot run, such as those
// under root's own home.
func (a Account) Runnable(in Server) error {
	if a.As == nil {
		return nil
	}
	real, err := filepath.EvalSymlinks(in.Path())
	if err != nil {
		return filewise.Errorf(filewise.CodePreflight, "", "%w", err)
	}
	for path := real; path != filepath.Dir(path); path = filepath.Dir(path) {
		info, err := os.Stat(path)
		if err != nil {
			return filewise.Errorf(filewise.CodePreflight, "", "%w", err)
		}
		uid, _, ok := filesystem.Owner(info)
		if info.Mode()&0o001 != 0 || !ok || uid == a.As.UID && info.Mode()&0o100 != 0 {
			continue
		}
		return filewise.Errorf(filewise.CodePreflight, "install it where every user can run it (scripts/get-postgres does, as root), or run "+
			"Filewise as an ordinary user",
			"PostgreSQL does not run as root, and its user %s cannot run %s: %s is closed to it", a.Name, in.Path(), path)
	}
	return nil
}
