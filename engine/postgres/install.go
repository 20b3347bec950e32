package postgres

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"

	"filewise"
	"filewise/engine/internal/managed"
)

// server is the binary, with the places where distributions keep it. It is never
// in PATH: several releases stand side by side.
var server = managed.Binary{Names: []string{"postgres"}, Package: "postgresql"}

// places are directories of binaries; what scripts/get-postgres has installed
// comes last.
func places() [][]string {
	own := []string{"/usr/local/lib/filewise/servers/postgres-*/bin"}
	if data := dataHome(); data != "" {
		own = append(own, filepath.Join(data, "filewise/servers/postgres-*/bin"))
	}
	return [][]string{
		{"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/lib64/pgsql/bin", "/usr/local/pgsql/bin", "/opt/homebrew/opt/postgresql@*/bin", "/usr/local/opt/postgresql@*/bin"},
		own,
	}
}

func dataHome() string {
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".local/share")
}

// install is an installed PostgreSQL.
type install struct {
	bin     string // directory of its binaries
	version string // "15.18"
	number  int    // as in server_version_num
}

func (in install) postgres() string { return filepath.Join(in.bin, "postgres") }
func (in install) initdb() string   { return filepath.Join(in.bin, "initdb") }

// find looks for a PostgreSQL that can be started: in the user's directory, or the
// newest of the machine's. Errors have code preflight.
func find(ctx context.Context, bin string) (install, error) {
	if bin != "" {
		path, err := server.Find(bin)
		if err != nil {
			return install{}, err
		}
		return examine(ctx, filepath.Dir(path))
	}
	for _, group := range places() {
		var found []install
		var why error
		for _, pattern := range group {
			dirs, _ := filepath.Glob(pattern) // our own patterns are well-formed
			for _, dir := range dirs {
				in, err := examine(ctx, dir)
				if err != nil {
					why = err
					continue
				}
				found = append(found, in)
			}
		}
		if len(found) > 0 {
			return slices.MaxFunc(found, func(a, b install) int { return a.number - b.number }), nil
		}
		if why != nil {
			return install{}, why
		}
	}
	return install{}, filewise.Errorf(filewise.CodePreflight,
		"install it: apt-get install "+server.Package+", or name the directory that holds postgres and initdb: --server-bin DIR",
		"there is no PostgreSQL server on this machine: neither in /usr/lib/postgresql/*/bin nor in the other usual places")
}

var versionLine = regexp.MustCompile(`\(PostgreSQL\) ((\d+)(?:\.(\d+))?\S*)`)

// examine looks whether a directory has a server that Filewise knows.
func examine(ctx context.Context, bin string) (install, error) {
	in := install{bin: bin}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, in.postgres(), "--version")
	cmd.Env = []string{"LC_ALL=C"}
	out, err := cmd.Output()
	if err != nil {
		return in, filewise.Errorf(filewise.CodePreflight, "apt-get install "+server.Package, "%s --version: %w", in.postgres(), err)
	}
	m := versionLine.FindSubmatch(out)
	if m == nil {
		return in, filewise.Errorf(filewise.CodePreflight, "name PostgreSQL's directory with --server-bin DIR", "%s --version says %q, which is no PostgreSQL", in.postgres(), out)
	}
	in.version = string(m[1])
	major, _ := strconv.Atoi(string(m[2])) // digits
	minor, _ := strconv.Atoi(string(m[3])) // digits, or none in a beta
	in.number = major*10000 + minor
	if in.number < versionOldest {
		return in, filewise.Errorf(filewise.CodePreflight, "install a newer PostgreSQL", "%s is PostgreSQL %s; Filewise knows %d and later", in.postgres(), in.version, versionOldest/10000)
	}
	if info, err := os.Stat(in.initdb()); err != nil || info.Mode()&0o111 == 0 {
		return in, filewise.Errorf(filewise.CodePreflight, "apt-get install "+server.Package, "%s is there, but not the initdb that creates its files", in.postgres())
	}
	return in, nil
}
