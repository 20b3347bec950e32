package installed

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"filewise"
	"filewise/engine/internal/server"
	"filewise/host/machine"
)

// Binary is the program postgres, and the places where distributions keep it. It is never in PATH, because several
// releases are installed side by side.
var Binary = server.Binary{Names: []string{"postgres"}, Package: "postgresql"}

// places returns directories of binaries. The ones that scripts/get-postgres installs come last.
func places() [][]string {
	return [][]string{
		{"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/lib64/pgsql/bin", "/usr/local/pgsql/bin", "/opt/homebrew/opt/postgresql@*/bin",
			"/usr/local/opt/postgresql@*/bin"},
		{"/usr/local/lib/filewise/servers/postgres-*/bin", server.Fetched("postgres-*")},
	}
}

// Server is an installed PostgreSQL.
type Server struct {
	Bin     string // directory of its binaries
	Version string // "15.18"
	Number  int    // like server_version_num
}

// Path returns the path of the program postgres.
func (in Server) Path() string   { return filepath.Join(in.Bin, "postgres") }
func (in Server) initdb() string { return filepath.Join(in.Bin, "initdb") }

// Find returns a PostgreSQL that can be started: the one in the user's directory, or the newest on the machine. Errors
// have CodePreflight.
func Find(ctx context.Context, bin string) (Server, error) {
	if bin != "" {
		path, err := Binary.Find(bin)
		if err != nil {
			return Server{}, err
		}
		return examine(ctx, filepath.Dir(path))
	}
	for _, group := range places() {
		var found []Server
		var why error
		for _, pattern := range group {
			dirs, _ := filepath.Glob(pattern) // these patterns are well-formed
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
			return slices.MaxFunc(found, func(a, b Server) int { return a.Number - b.Number }), nil
		}
		if why != nil {
			return Server{}, why
		}
	}
	return Server{}, filewise.Errorf(filewise.CodePreflight,
		"install it: "+machine.Install(Binary.Package)+", or name the directory that holds postgres and initdb: --server-bin DIR",
		"there is no PostgreSQL server on this machine: neither in /usr/lib/postgresql/*/bin nor in the other usual places")
}

// AtLeast returns the oldest installed server of version least or later.
func AtLeast(ctx context.Context, least int) (best Server, err error) {
	for _, pattern := range slices.Concat(places()...) {
		dirs, _ := filepath.Glob(pattern) // these patterns are well-formed
		for _, dir := range dirs {
			in, err := examine(ctx, dir)
			if err == nil && in.Number/10000 >= least/10000 && (best.Number == 0 || in.Number < best.Number) {
				best = in
			}
		}
	}
	if best.Number == 0 {
		err = filewise.Errorf(filewise.CodePreflight, fmt.Sprintf("apt-get install postgresql-%d, or scripts/get-postgres %[1]d, or name the "+
			"directory that holds postgres and initdb: --server-bin DIR", least/10000), "no PostgreSQL server of release %d or later, as that "+
			"of the database, is installed here for its copies", least/10000)
	}
	return best, err
}

// Oldest is the first release that Filewise supports, like server_version_num.
const Oldest = 130000

var versionLine = regexp.MustCompile(`\(PostgreSQL\) ((\d+)(?:\.(\d+))?\S*)`)

// release sets the version from a match in a program's output.
func (in *Server) release(m []string) {
	in.Version = m[1]
	major, _ := strconv.Atoi(m[2]) // digits
	minor, _ := strconv.Atoi(m[3]) // digits, or none in a beta
	in.Number = major*10000 + minor
}

// examine returns the server in a directory if Filewise supports it.
func examine(ctx context.Context, bin string) (Server, error) {
	in := Server{Bin: bin}
	out, err := server.Said(ctx, in.Path(), "--version")
	if err != nil {
		return in, filewise.Errorf(filewise.CodePreflight, machine.Install(Binary.Package), "%s --version: %w", in.Path(), err)
	}
	m := versionLine.FindStringSubmatch(out)
	if m == nil {
		return in, filewise.Errorf(filewise.CodePreflight, "name PostgreSQL's directory with --server-bin DIR",
			"%s --version prints %q, which is no PostgreSQL", in.Path(), out)
	}
	if in.release(m); in.Number < Oldest {
		return in, filewise.Errorf(filewise.CodePreflight, "install a newer PostgreSQL", "%s is PostgreSQL %s; Filewise supports %d and later",
			in.Path(), in.Version, Oldest/10000)
	}
	if info, err := os.Stat(in.initdb()); err != nil || info.Mode()&0o111 == 0 {
		return in, filewise.Errorf(filewise.CodePreflight, machine.Install(Binary.Package),
			"%s is there, but not the initdb that creates its files", in.Path())
	}
	return in, nil
}
