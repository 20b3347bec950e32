package mariadb

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"filewise"
)

// install is an installed MariaDB.
type install struct {
	binary  string
	base    string   // tree of a server outside the distribution's places; else empty
	scripts []string // SQL that creates the system tables
	version string   // "10.11.19-MariaDB-0+deb12u1"
	release [2]int   // 10, 11
}

// oldest is the first release of which Filewise knows the redo log's settings.
var oldest = [2]int{10, 6}

// find looks for a MariaDB that can be started, in the user's directory or the
// machine's. Errors have code preflight.
func find(ctx context.Context, bin string) (install, error) {
	path, err := server.Find(bin)
	if err != nil {
		return install{}, err
	}
	in := install{binary: path}
	if err := in.readVersion(ctx); err != nil {
		return install{}, err
	}
	return in, in.findScripts()
}

var versionLine = regexp.MustCompile(`Ver (((\d+)\.(\d+)\.\d+)\S*)`)

func (in *install) readVersion(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, in.binary, "--no-defaults", "--version")
	cmd.Env = []string{"LC_ALL=C"}
	out, err := cmd.Output()
	if err != nil {
		return filewise.Errorf(filewise.CodePreflight, "apt-get install "+server.Package, "%s --version: %w", in.binary, err)
	}
	m := versionLine.FindSubmatch(out)
	if m == nil {
		return filewise.Errorf(filewise.CodePreflight, "", "%s --version says %q, which is no version", in.binary, out)
	}
	if !regexp.MustCompile(`(?i)mariadb`).Match(out) {
		return filewise.Errorf(filewise.CodePreflight, "name MariaDB's directory with --server-bin DIR, or apt-get install "+server.Package,
			"%s is not MariaDB but %s", in.binary, m[1])
	}
	in.version = string(m[1])
	for i, part := range [][]byte{m[3], m[4]} {
		if in.release[i], err = strconv.Atoi(string(part)); err != nil {
			return filewise.Errorf(filewise.CodePreflight, "", "%s: version %s: %w", in.binary, in.version, err)
		}
	}
	if in.release[0] < oldest[0] || in.release[0] == oldest[0] && in.release[1] < oldest[1] {
		return filewise.Errorf(filewise.CodePreflight, "install a newer MariaDB", "%s is MariaDB %s; Filewise knows %d.%d and later",
			in.binary, in.version, oldest[0], oldest[1])
	}
	return nil
}

// findScripts looks for the SQL of the system tables: next to the binary, else
// in the distribution's place. MariaDB 11 gives the files new names.
func (in *install) findScripts() error {
	real, err := filepath.EvalSymlinks(in.binary)
	if err != nil {
		return filewise.Errorf(filewise.CodePreflight, "", "%w", err)
	}
	base := filepath.Dir(filepath.Dir(real))
	for _, dir := range []string{base + "/share/mysql", base + "/share/mariadb", base + "/share", base + "/scripts", "/usr/share/mysql", "/usr/share/mariadb"} {
		for _, prefix := range []string{"mysql", "mariadb"} {
			var scripts []string
			for _, part := range []string{"_system_tables.sql", "_performance_tables.sql", "_system_tables_data.sql"} {
				path := filepath.Join(dir, prefix+part)
				if _, err := os.Stat(path); err == nil {
					scripts = append(scripts, path)
				} else if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
					return filewise.Errorf(filewise.CodePreflight, "", "%w", err)
				}
			}
			if len(scripts) == 3 {
				in.scripts = scripts
				if base != "/usr" {
					in.base = base
				}
				return nil
			}
		}
	}
	return filewise.Errorf(filewise.CodePreflight, "apt-get install "+server.Package,
		"%s is there, but not the SQL that creates its system tables (mysql_system_tables.sql)", in.binary)
}
