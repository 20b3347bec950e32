package mysql

import (
	"context"
	"os"
	"path/filepath"

	"filewise"
	"filewise/engine/internal/innodb/private"
	"filewise/engine/internal/managed"
)

// getMySQL is how MySQL comes to a machine whose distribution has none.
const getMySQL = "scripts/get-mysql (in Filewise's source), or install mysql-community-server"

// server is the binary, with the places of MySQL's own packages and archives,
// Ubuntu's, and that of scripts/get-mysql.
func server() managed.Binary {
	return managed.Binary{
		Names: []string{"mysqld"},
		Places: []string{fetched(), "/usr/sbin", "/usr/libexec", "/usr/local/sbin", "/usr/local/libexec",
			"/opt/mysql*/bin", "/opt/mysql/*/bin", "/usr/local/mysql*/bin"},
		Remedy: getMySQL,
	}
}

// fetched are the directories that scripts/get-mysql makes.
func fetched() string {
	data := os.Getenv("XDG_DATA_HOME")
	if !filepath.IsAbs(data) {
		home, err := os.UserHomeDir()
		if err != nil {
			home = "/nonexistent"
		}
		data = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(data, "filewise", "servers", "mysql-*", "bin")
}

// find looks for a MySQL that can be started, in the user's directory or the
// machine's. Errors have code preflight.
func find(ctx context.Context, bin string) (private.Install, error) {
	var version private.Version
	path, err := server().FindWhere(bin, func(path string) (err error) {
		version, err = isMySQL(ctx, path)
		return err
	})
	if err != nil {
		return private.Install{}, err
	}
	in := private.Install{Binary: path, Version: version.Text}
	in.Base, err = base(path)
	return in, err
}

// isMySQL refuses MariaDB, whose packages bring a mysqld too, and releases whose
// redo log has other settings (innodb_redo_log_capacity is of 8.0.30).
func isMySQL(ctx context.Context, path string) (private.Version, error) {
	v, err := private.ReadVersion(ctx, path)
	switch {
	case err != nil:
		return v, err
	case v.MariaDB:
		return v, filewise.Errorf(filewise.CodePreflight, getMySQL+"; or name MySQL's directory with --server-bin DIR",
			"%s is not MySQL but MariaDB %s (--engine mariadb)", path, v.Text)
	case v.Before(8, 0, 30):
		return v, filewise.Errorf(filewise.CodePreflight, "install a newer MySQL", "%s is MySQL %s; Filewise knows 8.0.30 and later", path, v)
	}
	return v, nil
}

// base is the tree of a MySQL that is not the distribution's own: its messages
// and character sets lie there. Empty: the binary knows.
func base(binary string) (string, error) {
	real, err := filepath.EvalSymlinks(binary)
	if err != nil {
		return "", filewise.Errorf(filewise.CodePreflight, "", "%w", err)
	}
	dir := filepath.Dir(filepath.Dir(real))
	if dir == "/usr" {
		return "", nil
	}
	return dir, nil
}
