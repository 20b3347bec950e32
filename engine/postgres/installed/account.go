package installed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"filewise"
	"filewise/engine/internal/server"
	"filewise/engine/postgres/client"
	"filewise/host/machine"
	"filewise/internal/filesystem"
)

// Account is the user that the managed server runs as. PostgreSQL refuses root; then it is the user postgres. A user
// that other services share, such as nobody, would let them write to the server's files. The zero value is Filewise's
// own user.
type Account struct {
	Name string
	As   *server.User
}

// NewAccount returns the user for servers that are started now. Errors have CodePreflight.
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

// Give gives a tree in a directory of the server to the server's user.
func (a Account) Give(dir, path string) error {
	if a.As == nil {
		return nil
	}
	return server.Give(dir, path, a.As)
}

// Open opens the server's directories, so that the server's user can reach them.
func (a Account) Open(dirs []string) (*server.Handles, error) {
	if runtime.GOOS != "linux" {
		if err := a.reachable(dirs); err != nil {
			return nil, err
		}
	}
	return server.OpenHandles(dirs)
}

// reachable refuses directories that the server's user cannot reach, unless they can be inherited as open files.
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

// Runnable refuses binaries that the server's user cannot execute, such as binaries in root's home.
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

// Program returns the path of one of PostgreSQL's own programs.
func (in Server) Program(name string) string { return filepath.Join(in.Bin, name) }

// Has reports whether a program of PostgreSQL is installed.
func (in Server) Has(name string) bool {
	info, err := os.Stat(in.Program(name))
	return err == nil && info.Mode()&0o111 != 0
}

// Backups returns an error if the installed programs cannot make backups.
func (in Server) Backups(dumps bool) error {
	need := []string{"pg_basebackup"}
	if dumps {
		need = []string{"pg_dump", "pg_restore"}
	}
	for _, name := range need {
		if !in.Has(name) {
			return filewise.Errorf(filewise.CodeUsage, machine.Install(Binary.Package), "there is no %s next to %s: %w", name,
				in.Path(), filewise.ErrUnsupported)
		}
	}
	return nil
}

// initCommand returns the command that makes a data directory. It syncs nothing, because the copies are synced.
func (in Server) initCommand(dataDir string) []string {
	return []string{in.initdb(), "-D", dataDir, "-U", Superuser, "-A", "trust", "--no-sync", "--encoding=UTF8", "--no-locale"}
}

// singleCommand returns the command that starts a server in single-user mode. The server executes what it reads.
func (in Server) singleCommand(dataDir string) []string {
	return []string{in.Path(), "--single", "-D", dataDir, "-c", "fsync=off", "-c", "dynamic_shared_memory_type=mmap", client.Maintenance}
}

// Superuser is the only account of the managed server. The server's socket is in a directory that only the server's
// user can enter.
const Superuser = "filewise"

// environment returns the server's environment. It passes on no PG* variable.
func environment(dirs []string) []string {
	return server.Environment(dirs, "LC_ALL=C", "PGTZ=UTC", "TZ=UTC")
}

// Spec describes how to start a program that inherits its directories as open files.
func (a Account) Spec(command []string, h *server.Handles, log string, onStart func(int) error) server.Spec {
	s := server.Spec{Path: command[0], Args: command[1:], Env: environment(h.Dirs()), User: a.As, Log: log, Tells: explains, Register: onStart}
	h.Enter(&s)
	return s
}

// explains reports whether a log line explains why a server ended.
func explains(line string) bool {
	for _, word := range []string{"FATAL:", "PANIC:", "ERROR:", "error:", "parameter", "syntax error"} {
		if strings.Contains(line, word) {
			return true
		}
	}
	return false
}

// Clients finds pg_dump and pg_restore that support a server of version least. It searches the user's directory, or
// else takes the oldest installed release that supports it.
func Clients(ctx context.Context, bin string, least int) (Server, error) {
	dirs := []string{bin}
	if bin == "" {
		dirs = nil
		for _, pattern := range slices.Concat(places()...) {
			found, _ := filepath.Glob(pattern) // these patterns are well-formed
			dirs = append(dirs, found...)
		}
	}
	best, newest := Server{}, "none"
	for _, dir := range dirs {
		in := Server{Bin: dir}
		if in.Backups(true) != nil {
			continue
		}
		out, err := server.Said(ctx, in.Program("pg_dump"), "--version")
		if m := versionLine.FindStringSubmatch(out); err == nil && m != nil {
			in.release(m)
			newest = in.Version
			if in.Number/10000 >= least/10000 && (best.Number == 0 || in.Number < best.Number) {
				best = in
			}
		}
	}
	if best.Number == 0 {
		return best, filewise.Errorf(filewise.CodePreflight, fmt.Sprintf("%s, or name the directory that holds them: --server-bin DIR",
			machine.Install(fmt.Sprintf("postgresql-client-%d", max(least, Oldest)/10000))),
			"there are no pg_dump and pg_restore here of release %d or later, which the server needs (found: %s)", max(least, Oldest)/10000, newest)
	}
	return best, nil
}

// Compresses reports whether pg_dump was built with a compression method.
func (in Server) Compresses(ctx context.Context, method string) bool {
	// pg_dump reports an unknown method before it looks for the server.
	out, _ := machine.Command(ctx, in.Program("pg_dump"), "-Fd", "-f", "none", "-Z", method, "-d", "host=/nonexistent").CombinedOutput()
	return strings.Contains(string(out), "connection")
}
