package installed

import (
	"os"
	"path/filepath"
	"strings"

	"filewise"
	"filewise/engine/internal/server"
	"filewise/engine/postgres/internal/client"
)

// Program is one of PostgreSQL's own programs.
func (in Server) Program(name string) string { return filepath.Join(in.Bin, name) }

// Has tells whether one of them is installed.
func (in Server) Has(name string) bool {
	info, err := os.Stat(in.Program(name))
	return err == nil && info.Mode()&0o111 != 0
}

// Backups are why backups cannot be made by the programs that are installed; nil:
// they can.
func (in Server) Backups(dumps bool) error {
	need := []string{"pg_basebackup"}
	if dumps {
		need = []string{"pg_dump", "pg_restore"}
	}
	for _, name := range need {
		if !in.Has(name) {
			return filewise.Errorf(filewise.CodeUsage, "apt-get install "+Binary.Package, "there is no %s beside %s: %w", name,
				in.Path(), filewise.ErrUnsupported)
		}
	}
	return nil
}

// initCommand makes a data directory. Nothing is synced: that comes with the copy.
func (in Server) initCommand(dataDir string) []string {
	return []string{in.initdb(), "-D", dataDir, "-U", Superuser, "-A", "trust", "--no-sync", "--encoding=UTF8", "--no-locale"}
}

// singleCommand starts a server that has no clients, and executes what it reads.
func (in Server) singleCommand(dataDir string) []string {
	return []string{in.Path(), "--single", "-D", dataDir, "-c", "fsync=off", "-c", "dynamic_shared_memory_type=mmap", client.Maintenance}
}

// Superuser is the managed server's one account. Its socket lies in a directory
// that only the server's user can enter.
const Superuser = "filewise"

// environment is all that the server sees of Filewise's. No PG* variable is handed on.
func environment(dirs []string) []string {
	return server.Environment(dirs, "LC_ALL=C", "PGTZ=UTC", "TZ=UTC")
}

// Spec starts a program on directories that it is handed over open.
func (a Account) Spec(command []string, h *server.Handles, log string, onStart func(int) error) server.Spec {
	s := server.Spec{Path: command[0], Args: command[1:], Env: environment(h.Dirs()), User: a.As, Log: log, Tells: tells, Register: onStart}
	h.Enter(&s)
	return s
}

// tells picks the log's lines that say why a server ended.
func tells(line string) bool {
	for _, word := range []string{"FATAL:", "PANIC:", "ERROR:", "error:", "parameter", "syntax error"} {
		if strings.Contains(line, word) {
			return true
		}
	}
	return false
}
