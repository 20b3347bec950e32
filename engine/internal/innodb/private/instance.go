package private

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
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
	"filewise/engine/internal/innodb"
	"filewise/engine/internal/managed"
)

// How long a server may take. Recovery of a large redo log and the last flush
// of a large buffer pool are slow on slow storage; a death is seen at once.
const (
	startPatience = 10 * time.Minute
	stopPatience  = 10 * time.Minute
)

// instance is one private server on its own files.
type instance struct {
	install  Install
	design   *design
	password string
	first    time.Duration // that only a layout's first build takes
	settled  atomic.Bool   // nothing was done since the last checkpoint

	mu      sync.Mutex
	proc    *managed.Process
	control *sql.DB // for everything but the workload's sessions
}

// newInstance makes the directories of a build. remove undoes that.
func newInstance(in Install, d *design) (*instance, error) {
	secret := make([]byte, 16)
	rand.Read(secret) // never fails
	i := &instance{install: in, design: d, password: hex.EncodeToString(secret)}
	dirs := append(d.dirs[:len(d.dirs):len(d.dirs)], d.dataDir(), d.tmpDir())
	if d.redoDir() != d.dataDir() {
		dirs = append(dirs, d.redoDir())
	}
	if d.binlog() {
		dirs = append(dirs, d.binlogDir())
	}
	for n, dir := range dirs {
		if err := os.Mkdir(dir, 0o700); err != nil {
			// What exists already is not this build's, and stays.
			return nil, errors.Join(filewise.Errorf(filewise.CodePreflight, "", "directory of a build: %w", err), removeAll(d.dirs[:min(n, len(d.dirs))]))
		}
	}
	if err := os.WriteFile(d.optionPath(), []byte(d.optionFile()), 0o600); err != nil {
		return nil, errors.Join(filewise.Errorf(filewise.CodePreflight, "", "option file of the server: %w", err), removeAll(d.dirs))
	}
	return i, nil
}

// remove removes what newInstance made and the server filled; the server must
// have ended.
func (i *instance) remove() error {
	dirs := i.design.dirs
	for _, dir := range i.design.dirs {
		dirs = append(dirs[:len(dirs):len(dirs)], dir+snapshotSuffix, dir+backupSuffix)
	}
	return removeAll(dirs)
}

func removeAll(dirs []string) error {
	var errs []error
	for _, dir := range dirs {
		if err := os.RemoveAll(dir); err != nil {
			errs = append(errs, fmt.Errorf("removing a build: %w", err))
		}
	}
	return errors.Join(errs...)
}

func (i *instance) spec(bootstrap bool, extra ...string) (managed.Spec, error) {
	args, err := i.design.arguments(i.install, bootstrap)
	if err != nil {
		return managed.Spec{}, err
	}
	return managed.Spec{
		Path: i.install.Binary, Args: append(args, extra...), Dir: i.design.home(), Env: i.design.environment(),
		Log: i.design.logPath(), Tells: tells, Register: i.design.target.OnStart,
	}, nil
}

// tells picks the log's lines that say why a server ended.
func tells(line string) bool {
	return strings.Contains(line, "[ERROR]") || strings.Contains(line, "[FATAL]") || strings.HasPrefix(line, "ERROR:")
}

// bootstrap creates the data directory, with InnoDB's files at their size, by
// the server's own SQL.
func (i *instance) bootstrap(ctx context.Context) error {
	creation, err := i.design.product.Create(i.install, i.password)
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
		_, _ = out.WriteString(creation.Stdin) // a broken pipe is a server that ended, which Wait reports
	}()
	defer func() { <-written }()
	spec, err := i.spec(true, creation.Args...)
	if err != nil {
		in.Close()
		return err
	}
	spec.Stdin = in
	p, err := managed.Start(spec)
	in.Close() // the server has its own
	if err != nil {
		return err
	}
	if err := p.Wait(ctx); err != nil {
		return i.explain(fmt.Errorf("creating the database's files: %w", err))
	}
	return nil
}

// start starts the server and waits until it answers.
func (i *instance) start(ctx context.Context) error {
	spec, err := i.spec(false)
	if err != nil {
		return err
	}
	p, err := managed.Start(spec)
	if err != nil {
		return err
	}
	control := i.pool("")
	control.SetMaxOpenConns(8)
	if err := p.Ready(ctx, startPatience, control.PingContext); err != nil {
		control.Close()
		p.Kill()
		return i.explain(err)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.proc, i.control = p, control
	i.settled.Store(false) // recovery writes
	return nil
}

// account is the private server's one account.
const account = "root"

// pool opens connections to the server through its socket.
func (i *instance) pool(database string) *sql.DB {
	socket := managed.Socket{Dir: i.design.dataDir(), Name: socketName}
	c := mysql.NewConfig()
	c.User, c.Passwd, c.DBName = account, i.password, database
	c.Net, c.Addr = "unix", filepath.Join(socket.Dir, socket.Name)
	c.DialFunc = innodb.Dialing(func(ctx context.Context, _, _ string) (net.Conn, error) { return socket.Dial(ctx) })
	c.InterpolateParams = true
	c.Logger = &mysql.NopLogger{} // its errors come back as errors
	connector, err := mysql.NewConnector(c)
	if err != nil {
		panic(err) // only a malformed configuration, and this one is ours
	}
	return sql.OpenDB(connector)
}

// running is the server's process and control connections; an error when it is
// stopped, or has died.
func (i *instance) running() (*managed.Process, *sql.DB, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.proc == nil {
		return nil, nil, filewise.Errorf(filewise.CodeInternal, "", "the server of %s is stopped", i.design.layout.Name)
	}
	if err := i.proc.Died(); err != nil {
		return nil, nil, i.explain(err)
	}
	return i.proc, i.control, nil
}

// process is the server's process; nil: it is stopped.
func (i *instance) process() *managed.Process {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.proc
}

// take hands the running server over to who ends it.
func (i *instance) take() (*managed.Process, *sql.DB) {
	i.mu.Lock()
	defer i.mu.Unlock()
	p, c := i.proc, i.control
	i.proc, i.control = nil, nil
	return p, c
}

// stop ends the server cleanly: everything is flushed and checkpointed. A
// stopped server stays stopped.
func (i *instance) stop(ctx context.Context) error {
	p, control := i.take()
	if p == nil {
		return nil
	}
	control.Close()
	return i.explain(p.Stop(ctx, syscall.SIGTERM, stopPatience))
}

// kill ends the server at once; what it had in memory is lost.
func (i *instance) kill() {
	if p, control := i.take(); p != nil {
		control.Close()
		p.Kill()
	}
}

// exec executes statements one after the other on one control connection.
func (i *instance) exec(ctx context.Context, statements ...string) error {
	link, err := i.Link()
	if err != nil {
		return err
	}
	return link.Exec(ctx, statements...)
}
