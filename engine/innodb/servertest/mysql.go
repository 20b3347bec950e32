package servertest

import (
	"context"
	"os/exec"

	"filewise/engine/innodb/dialect"
	"filewise/engine/internal/server"
)

// MySQL is Oracle's, from where scripts/get-mysql has put it.
var MySQL = Product{
	Product: dialect.MySQL,
	Dump:    server.Binary{Names: []string{"mysqldump"}, Places: []string{"/usr/bin"}, Package: "mysql-client"},
	Create: func(ctx context.Context, server, data string) *exec.Cmd {
		return exec.CommandContext(ctx, server, "--no-defaults", "--initialize-insecure", "--datadir="+data, "--user="+user())
	},
	Args: []string{"--mysqlx=OFF"},
	Slow: true,
}
