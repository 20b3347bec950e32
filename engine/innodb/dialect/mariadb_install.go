package dialect

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"filewise"
	"filewise/engine/internal/server"
	"filewise/host/machine"
)

// findMariaDB returns a MariaDB that can be started, in the user's directory or on the machine. Errors have
// CodePreflight.
func findMariaDB(ctx context.Context, bin string) (Install, error) {
	in, err := find(ctx, mariadbServer, bin, isMariaDB)
	if err == nil {
		in.Scripts, err = findScripts(in)
	}
	return in, err
}

// find returns a server whose version is accepts. If the server is not the distribution's, it gets the location of its tree
// is, because messages and character sets lie there.
func find(ctx context.Context, b server.Binary, bin string, is func(Version, string) error) (in Install, err error) {
	in.Binary, err = b.FindWhere(bin, func(path string) error {
		v, err := ReadVersion(ctx, path)
		if err == nil {
			err = is(v, path)
		}
		in.Version = v.Text
		return err
	})
	if err != nil {
		return Install{}, err
	}
	real, err := filepath.EvalSymlinks(in.Binary)
	if err != nil {
		return in, filewise.Errorf(filewise.CodePreflight, "", "%w", err)
	}
	if in.Base = filepath.Dir(filepath.Dir(real)); in.Base == distribution {
		in.Base = ""
	}
	return in, nil
}

// distribution is the tree that binaries find by themselves.
const distribution = "/usr"

// isMariaDB refuses MySQL, which can have a binary of the same name, and releases whose redo log has other settings.
func isMariaDB(v Version, path string) error {
	switch {
	case !v.MariaDB:
		return filewise.Errorf(filewise.CodePreflight,
			"name MariaDB's directory with --server-bin DIR, or "+machine.Install(mariadbServer.Package),
			"%s is not MariaDB but %s", path, v.Text)
	case v.Before(10, 6):
		return filewise.Errorf(filewise.CodePreflight, "install a newer MariaDB", "%s is MariaDB %s; Filewise supports 10.6 and later", path, v)
	}
	return nil
}

// findScripts returns the SQL files that create the system tables. They lie next to the binary or in the distribution's
// place. MariaDB 11 has renamed them.
func findScripts(in Install) (scripts []string, err error) {
	base := cmp.Or(in.Base, distribution)
	for _, dir := range []string{base + "/share/mysql", base + "/share/mariadb", base + "/share", base + "/scripts", "/usr/share/mysql",
		"/usr/share/mariadb"} {
		for _, prefix := range []string{"mysql", "mariadb"} {
			scripts = nil
			for _, part := range []string{"_system_tables.sql", "_performance_tables.sql", "_system_tables_data.sql"} {
				path := filepath.Join(dir, prefix+part)
				if _, err := os.Stat(path); err == nil {
					scripts = append(scripts, path)
				} else if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
					return nil, filewise.Errorf(filewise.CodePreflight, "", "%w", err)
				}
			}
			if len(scripts) == 3 {
				return scripts, nil
			}
		}
	}
	return nil, filewise.Errorf(filewise.CodePreflight, machine.Install(mariadbServer.Package),
		"%s is there, but not the SQL that creates its system tables (mysql_system_tables.sql)", in.Binary)
}

// mariadbServer is the server's binary, and the places where distributions keep it.
var mariadbServer = server.Binary{
	Names:   []string{"mariadbd", "mysqld"},
	Places:  []string{"/usr/sbin", "/usr/libexec", "/usr/local/sbin", "/usr/local/libexec", "/opt/mariadb*/bin", "/usr/local/mysql/bin"},
	Package: "mariadb-server",
}

// backupTool is MariaDB's program for physical backups.
var backupTool = server.Binary{
	Names:   []string{"mariadb-backup", "mariabackup"},
	Places:  []string{"/usr/bin", "/usr/local/bin", "/opt/mariadb*/bin", "/usr/local/mysql/bin"},
	Package: "mariadb-backup",
}

// findBackupTool searches next to the server that the user named, then the usual places.
func findBackupTool(bin string) (string, error) {
	if bin != "" {
		if path, err := backupTool.Find(bin); err == nil {
			return path, nil
		}
	}
	return backupTool.Find("")
}
