package dialect

import (
	"context"

	"filewise"
	"filewise/engine/internal/server"
)

// getMySQL is how MySQL comes to a machine whose distribution has none.
const getMySQL = "scripts/get-mysql (in Filewise's source), or install mysql-community-server"

// mysqlServer is the binary, with the places of MySQL's own packages and archives,
// Ubuntu's, and that of scripts/get-mysql.
func mysqlServer() server.Binary {
	return server.Binary{
		Names: []string{"mysqld"},
		Places: []string{server.Fetched("mysql-*"), "/usr/sbin", "/usr/libexec", "/usr/local/sbin", "/usr/local/libexec",
			"/opt/mysql*/bin", "/opt/mysql/*/bin", "/usr/local/mysql*/bin"},
		Remedy: getMySQL,
	}
}

// findMySQL looks for a MySQL that can be started, in the user's directory or the
// machine's. Errors have code preflight.
func findMySQL(ctx context.Context, bin string) (Install, error) {
	return find(ctx, mysqlServer(), bin, isMySQL)
}

// isMySQL refuses MariaDB, whose packages bring a mysqld too, and releases whose
// redo log has other settings (innodb_redo_log_capacity is of 8.0.30).
func isMySQL(v Version, path string) error {
	switch {
	case v.MariaDB:
		return filewise.Errorf(filewise.CodePreflight, getMySQL+"; or name MySQL's directory with --server-bin DIR",
			"%s is not MySQL but MariaDB %s (--engine mariadb)", path, v.Text)
	case v.Before(8, 0, 30):
		return filewise.Errorf(filewise.CodePreflight, "install a newer MySQL", "%s is MySQL %s; Filewise knows 8.0.30 and later", path, v)
	}
	return nil
}
