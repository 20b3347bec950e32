package servertest

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"filewise/engine/internal/managed"
)

// MySQL is Oracle's, from where scripts/get-mysql has put it.
var MySQL = Product{
	Name: "mysql",
	Server: managed.Binary{Names: []string{"mysqld"}, Places: []string{filepath.Join(data(), "filewise", "servers", "mysql-*", "bin"), "/usr/local/mysql*/bin"},
		Remedy: "scripts/get-mysql"},
	Is:   isMySQL,
	Dump: managed.Binary{Names: []string{"mysqldump"}, Places: []string{"/usr/bin"}, Package: "mysql-client"},
	Create: func(ctx context.Context, server, data string) *exec.Cmd {
		return exec.CommandContext(ctx, server, "--no-defaults", "--initialize-insecure", "--datadir="+data, "--user="+user())
	},
	Args: []string{"--mysqlx=OFF"},
	Slow: true,
}

// data is where a user's programs keep their data (XDG base directories).
func data() string {
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "/nonexistent"
	}
	return filepath.Join(home, ".local", "share")
}

// isMySQL refuses MariaDB, whose packages bring a mysqld too.
func isMySQL(path string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "--no-defaults", "--version").Output()
	if err == nil && strings.Contains(string(out), "MariaDB") {
		err = errors.New(path + " is MariaDB")
	}
	return err
}
