package managed

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"

	"filewise"
	"filewise/engine/innodb/dialect"
	"filewise/engine/internal/script"
	"filewise/engine/internal/server"
)

// instance is one managed server on its own files.
type instance struct {
	install  dialect.Install
	design   *design
	steps    script.Steps
	password string
	first    time.Duration // how long the creation took that only a layout's first build needs
	copied   bool          // the files are a copy of a loaded build
	settled  atomic.Bool   // nothing was done since the last checkpoint
	took     atomic.Int64  // duration of the last checkpoint, in ns
	life     *server.Life

	mu      sync.Mutex
	control *sql.DB // for everything except the workload's sessions
}

// newInstance makes the directories of a build; remove removes them.
func newInstance(in dialect.Install, d *design) (*instance, error) {
	secret := make([]byte, 16)
	rand.Read(secret) // never fails
	i := &instance{install: in, design: d, password: hex.EncodeToString(secret)}
	i.life = server.NewLife(server.Control{
		Name: d.Layout.Name, Dirs: d.dirs,
		Spec:    func() (server.Spec, error) { return i.spec(false) },
		Ask:     func(ctx context.Context) error { return i.connections().PingContext(ctx) },
		Started: func() { i.settled.Store(false) }, // recovery writes
		Leave:   i.disconnect, Shutdown: syscall.SIGTERM,
		Settle: i.Settle, Prepare: i.purge, Explain: i.explain,
	})
	dirs := append(d.dirs[:len(d.dirs):len(d.dirs)], d.dataDir(), d.tmpDir())
	if d.binlog() {
		dirs = append(dirs, d.binlogDir())
	}
	if err := server.MakeDirs(dirs...); err != nil {
		return nil, err
	}
	if err := os.WriteFile(d.optionPath(), []byte(d.optionFile()), 0o600); err != nil {
		return nil, errors.Join(filewise.Errorf(filewise.CodePreflight, "", "option file of the server: %w", err), server.RemoveDirs(d.dirs))
	}
	return i, nil
}

// remove removes the directories that newInstance made, with all files. The server must have ended.
func (i *instance) remove() error { return server.RemoveDirs(i.design.dirs, backupSuffix) }

func (i *instance) spec(bootstrap bool, extra ...string) (server.Spec, error) {
	args, err := i.design.arguments(i.install, bootstrap)
	if err != nil {
		return server.Spec{}, err
	}
	return server.Spec{
		Path: i.install.Binary, Args: append(args, extra...), Dir: i.design.home(), Env: i.design.environment(),
		Log: i.design.logPath(), Tells: explains, Register: i.design.Target.OnStart,
	}, nil
}

// explains reports whether a log line explains why a server ended.
func explains(line string) bool {
	return strings.Contains(line, "[ERROR]") || strings.Contains(line, "[FATAL]") || strings.HasPrefix(line, "ERROR:")
}

// bootstrap runs the server's own SQL to create the data directory. InnoDB's files then have their size.
func (i *instance) bootstrap(ctx context.Context) error {
	creation, err := i.design.Product.Managed.Create(i.install, i.password)
	if err != nil {
		return err
	}
	// A pipe, not a file: the password is never written down.
	in, out, err := os.Pipe()
	if err != nil {
		return err
	}
	defer in.Close()
	written := make(chan struct{})
	go func() {
		defer close(written)
		defer out.Close()
		_, _ = out.WriteString(creation.Stdin) // if the pipe breaks, the server has ended, which Wait reports
	}()
	defer func() { <-written }()
	spec, err := i.spec(true, creation.Args...)
	if err != nil {
		in.Close()
		return err
	}
	spec.Stdin = in
	p, err := server.Start(spec)
	in.Close() // the server has its own descriptor
	if err != nil {
		return err
	}
	return failed("creating the database's files", p.Wait(ctx))
}

// account is the only account of the managed server.
const account = "root"

// pool returns a pool of connections to the server through its socket.
func (i *instance) pool(database string) *sql.DB {
	socket := server.Socket{Dir: i.design.dataDir(), Name: socketName}
	c := mysql.NewConfig()
	c.User, c.Passwd, c.DBName = account, i.password, database
	c.Net, c.Addr = "unix", filepath.Join(socket.Dir, socket.Name)
	c.DialFunc = dialect.Dialing(func(ctx context.Context, _, _ string) (net.Conn, error) { return socket.Dial(ctx) })
	c.InterpolateParams = true
	c.MaxAllowedPacket = 1 << 30
	c.Logger = &mysql.NopLogger{} // errors are returned instead
	connector, err := mysql.NewConnector(c)
	if err != nil {
		panic(err) // only a malformed configuration fails, and this one is constant
	}
	return sql.OpenDB(connector)
}

// connections returns the pool for everything except the workload's sessions.
func (i *instance) connections() *sql.DB {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.control == nil {
		i.control = i.pool("")
		i.control.SetMaxOpenConns(8)
	}
	return i.control
}

func (i *instance) disconnect() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.control != nil {
		i.control.Close()
		i.control = nil
	}
}

// running returns the server's process and control connections. It returns an error if the server is stopped or has
// died.
func (i *instance) running() (*server.Process, *sql.DB, error) {
	p, err := i.life.Running()
	if err != nil {
		return nil, nil, err
	}
	return p, i.connections(), nil
}

// purge makes the next shutdown leave no work for the background.
func (i *instance) purge(ctx context.Context) error {
	statements := []string{"SET GLOBAL innodb_fast_shutdown = 0"}
	if i.design.binlog() { // the log of the load, which no one needs
		statements = append(statements, i.design.Product.Managed.ResetBinlog)
	}
	i.design.loading = false // from the next start on
	return i.exec(ctx, statements...)
}

// exec executes statements one after the other on one control connection.
func (i *instance) exec(ctx context.Context, statements ...string) error {
	link, err := i.Link()
	if err != nil {
		return err
	}
	return link.Exec(ctx, statements...)
}
