package servertest

import (
	"context"
	"os/exec"

	"filewise/engine/internal/managed"
)

// MySQL is Oracle's, from wherever scripts/get-mysql has put it.
var MySQL = Product{
	Name:   "mysql",
	Server: managed.Binary{Names: []string{"mysqld"}, Places: []string{"/usr/sbin", "/usr/local/mysql/bin"}, Package: "mysql-server"},
	Dump:   managed.Binary{Names: []string{"mysqldump"}, Places: []string{"/usr/bin"}, Package: "mysql-client"},
	Create: func(ctx context.Context, server, data string) *exec.Cmd {
		return exec.CommandContext(ctx, server, "--no-defaults", "--initialize-insecure", "--datadir="+data, "--user="+user())
	},
	Args: []string{"--mysqlx=OFF"},
}
