// Package servertest starts servers of MariaDB and MySQL for tests of external targets. They stand for a user's server,
// with its databases, accounts and programs.
package servertest

import (
	"context"
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"filewise"
	"filewise/engine/innodb/dialect"
	"filewise/engine/internal/server"
)

// Product describes how to create and start a server.
type Product struct {
	*dialect.Product
	// Dump is the product's own program for logical dumps.
	Dump server.Binary
	// Create fills an empty data directory.
	Create func(ctx context.Context, server, data string) *exec.Cmd
	// Args are added to the server's command line.
	Args []string
	// Slow is true if syncs would take most of the time on real storage.
	Slow bool
}

// MariaDB is the server of Debian.
var MariaDB = Product{
	Product: dialect.MariaDB,
	Dump:    server.Binary{Names: []string{"mariadb-dump"}, Places: []string{"/usr/bin"}, Package: "mariadb-client"},
	Create: func(ctx context.Context, _, data string) *exec.Cmd {
		return exec.CommandContext(ctx, "mariadb-install-db", "--no-defaults", "--datadir="+data, "--auth-root-authentication-method=normal",
			"--skip-test-db", "--user="+user(), "--tmpdir="+filepath.Dir(data)) // servers empty a shared one when they start
	},
}

func user() string {
	if os.Getuid() == 0 {
		return "root"
	}
	return os.Getenv("USER")
}

// Server is a started server.
type Server struct {
	Product Product
	Dir     string
	Socket  string
	Data    string
	Root    *sql.DB // as the administrator
	Process *server.Process
	Program string // path of the server's program
}

// need skips a test if something is not installed. In CI it fails the test, because no one would notice that it is
// skipped.
func need(t testing.TB, path string, err error) string {
	t.Helper()
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("the tests of the real server did not run: %v; %s", err, filewise.RemedyOf(err))
		}
		t.Skipf("NO SERVER: %v; %s", err, filewise.RemedyOf(err))
	}
	return path
}

// Start creates and starts a server on a Unix socket, and on loopback if args have a port. The server ends with the
// test.
func Start(t testing.TB, p Product, args ...string) *Server {
	t.Helper()
	in, err := p.Managed.Find(t.Context(), "")
	program := need(t, in.Binary, err)
	dir, err := os.MkdirTemp(p.Temp(), "fw") // a short path, as sockets have 108 bytes
	fatal(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	s := &Server{Product: p, Dir: dir, Socket: filepath.Join(dir, "s"), Data: filepath.Join(dir, "data"), Program: program}
	create := p.Create(ctx, program, s.Data)
	if out, err := create.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", create, err, out)
	}
	all := []string{"--no-defaults", "--datadir=" + s.Data, "--socket=" + s.Socket, "--pid-file=" + filepath.Join(dir, "pid"),
		"--user=" + user(), "--tmpdir=" + dir,
		"--log-bin=" + filepath.Join(s.Data, "bin"), "--server-id=1", "--innodb-buffer-pool-size=64M"}
	if !slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "--port=") }) {
		all = append(all, "--skip-networking")
	}
	s.Process, err = server.Start(server.Spec{Path: program, Args: append(append(all, p.Args...), args...), Dir: dir,
		Env: []string{"LC_ALL=C", "PATH=" + os.Getenv("PATH"), "LD_LIBRARY_PATH=" + os.Getenv("LD_LIBRARY_PATH")}, Log: filepath.Join(dir,
			"log")})
	fatal(t, err)
	t.Cleanup(s.Process.Kill)
	s.Root = s.Open(t, "root", "")
	fatal(t, s.Process.Ready(ctx, 2*time.Minute, s.Root.PingContext))
	return s
}

// Open returns an account's connections through the socket.
func (s *Server) Open(t testing.TB, user, password string) *sql.DB {
	t.Helper()
	c := mysql.NewConfig()
	c.User, c.Passwd, c.Net, c.Addr, c.Logger = user, password, "unix", s.Socket, &mysql.NopLogger{}
	connector, err := mysql.NewConnector(c)
	fatal(t, err)
	db := sql.OpenDB(connector)
	t.Cleanup(func() { db.Close() })
	return db
}

// Exec executes statements as the administrator.
func (s *Server) Exec(t testing.TB, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if _, err := s.Root.ExecContext(context.Background(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

func fatal(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// MySQL is Oracle's server, as scripts/get-mysql installs it.
var MySQL = Product{
	Product: dialect.MySQL,
	Dump:    server.Binary{Names: []string{"mysqldump"}, Places: []string{"/usr/bin"}, Package: "mysql-client"},
	Create: func(ctx context.Context, server, data string) *exec.Cmd {
		return exec.CommandContext(ctx, server, "--no-defaults", "--initialize-insecure", "--datadir="+data, "--user="+user())
	},
	Args: []string{"--mysqlx=OFF"},
	Slow: true,
}
