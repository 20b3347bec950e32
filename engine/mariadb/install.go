package mariadb

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"filewise"
	"filewise/engine/internal/innodb/private"
)

// find looks for a MariaDB that can be started, in the user's directory or the
// machine's. Errors have code preflight.
func find(ctx context.Context, bin string) (private.Install, error) {
	var version private.Version
	path, err := server.FindWhere(bin, func(path string) (err error) {
		version, err = isMariaDB(ctx, path)
		return err
	})
	if err != nil {
		return private.Install{}, err
	}
	in := private.Install{Binary: path, Version: version.Text}
	in.Base, in.Scripts, err = findScripts(path)
	return in, err
}

// isMariaDB refuses MySQL, which may have a binary of the same name, and releases
// whose redo log has other settings.
func isMariaDB(ctx context.Context, path string) (private.Version, error) {
	v, err := private.ReadVersion(ctx, path)
	switch {
	case err != nil:
		return v, err
	case !v.MariaDB:
		return v, filewise.Errorf(filewise.CodePreflight, "name MariaDB's directory with --server-bin DIR, or apt-get install "+server.Package,
			"%s is not MariaDB but %s", path, v.Text)
	case v.Before(10, 6):
		return v, filewise.Errorf(filewise.CodePreflight, "install a newer MariaDB", "%s is MariaDB %s; Filewise knows 10.6 and later", path, v)
	}
	return v, nil
}

// findScripts looks for the SQL of the system tables: next to the binary, else
// in the distribution's place. MariaDB 11 gives the files new names.
func findScripts(binary string) (base string, scripts []string, err error) {
	real, err := filepath.EvalSymlinks(binary)
	if err != nil {
		return "", nil, filewise.Errorf(filewise.CodePreflight, "", "%w", err)
	}
	base = filepath.Dir(filepath.Dir(real))
	for _, dir := range []string{base + "/share/mysql", base + "/share/mariadb", base + "/share", base + "/scripts", "/usr/share/mysql", "/usr/share/mariadb"} {
		for _, prefix := range []string{"mysql", "mariadb"} {
			scripts = nil
			for _, part := range []string{"_system_tables.sql", "_performance_tables.sql", "_system_tables_data.sql"} {
				path := filepath.Join(dir, prefix+part)
				if _, err := os.Stat(path); err == nil {
					scripts = append(scripts, path)
				} else if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
					return "", nil, filewise.Errorf(filewise.CodePreflight, "", "%w", err)
				}
			}
			if len(scripts) == 3 {
				if base == "/usr" {
					base = ""
				}
				return base, scripts, nil
			}
		}
	}
	return "", nil, filewise.Errorf(filewise.CodePreflight, "apt-get install "+server.Package,
		"%s is there, but not the SQL that creates its system tables (mysql_system_tables.sql)", binary)
}
