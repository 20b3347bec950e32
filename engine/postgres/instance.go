package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"filewise"
	"filewise/engine/internal/managed"
	"filewise/internal/filesystem"
)

// How long a server may take. Recovery and the last checkpoint are slow on slow
// storage; a death is seen at once.
const (
	startPatience = 10 * time.Minute
	stopPatience  = 10 * time.Minute
	quitPatience  = 20 * time.Second
)

// socketName is how PostgreSQL calls the socket of port 5432.
const socketName = ".s.PGSQL.5432"

// instance is one private server on its own files.
type instance struct {
	install install
	account account
	design  *design
	sites   sites
	doors   *doors
	link    *link

	mu      sync.Mutex
	proc    *managed.Process
	loading bool // it is started for a bulk load
}

// newInstance makes the directories of a build and fills the data directory from
// the template. Nothing is left of one that fails.
func newInstance(ctx context.Context, in install, a account, d *design, s sites, template string) (*instance, error) {
	i, err := bareInstance(in, a, d, s)
	if err != nil {
		return nil, err
	}
	if err := i.fill(ctx, template); err != nil {
		return nil, errors.Join(failed("creating the server's files", err), i.remove())
	}
	return i, nil
}

// bareInstance makes the directories of a server that has no files yet.
func bareInstance(in install, a account, d *design, s sites) (_ *instance, err error) {
	for n, dir := range s.dirs {
		if err := os.Mkdir(dir, 0o700); err != nil {
			// What exists already is not this build's, and stays.
			return nil, errors.Join(filewise.Errorf(filewise.CodePreflight, "", "directory of a build: %w", err), removeAll(s.dirs[:n]))
		}
	}
	i := &instance{install: in, account: a, design: d, sites: s}
	defer func() {
		if err != nil {
			err = errors.Join(err, i.remove())
		}
	}()
	if i.doors, err = a.openDoors(s.dirs); err != nil {
		return nil, err
	}
	i.link = newLink(i.config(), i.why)
	return i, nil
}

// fill makes the data directory, the WAL's place and the directories of the
// tablespaces, all durable, so that writing them is not measured.
func (i *instance) fill(ctx context.Context, template string) error {
	if err := copyTree(ctx, template, i.sites.dataDir()); err != nil {
		return err
	}
	if i.sites.log != i.sites.home {
		inside := filepath.Join(i.sites.dataDir(), "pg_wal")
		if err := copyTree(ctx, inside, i.sites.walDir()); err != nil {
			return err
		}
		if err := os.RemoveAll(inside); err != nil {
			return err
		}
		if err := os.Symlink(i.doors.path(i.sites.walDir()), inside); err != nil {
			return err
		}
	}
	for _, n := range i.design.used() {
		if err := os.Mkdir(i.sites.spaceDir(n), 0o700); err != nil {
			return err
		}
	}
	for n, t := range i.design.temps {
		if err := os.Mkdir(i.sites.tempDir(t.number, n), 0o700); err != nil {
			return err
		}
	}
	conf := filepath.Join(i.sites.dataDir(), "postgresql.conf")
	if err := os.WriteFile(conf, []byte(i.design.file(i.install.number)), 0o600); err != nil {
		return err
	}
	for _, dir := range i.sites.dirs {
		if err := i.account.own(dir); err != nil {
			return err
		}
		if err := filesystem.SyncAround(dir); err != nil {
			return err
		}
	}
	return nil
}

// remove removes what newInstance made and the server filled; the server must
// have ended.
func (i *instance) remove() error {
	if i.doors != nil {
		i.doors.close()
	}
	dirs := i.sites.dirs
	for _, dir := range i.sites.dirs {
		dirs = append(dirs[:len(dirs):len(dirs)], dir+snapshotSuffix)
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

// spec starts a program on directories that it goes into through their doors.
func (a account) spec(path string, args []string, d *doors, log string, onStart func(int) error) managed.Spec {
	return managed.Spec{Path: path, Args: args, Dir: d.inside(), Env: environment(d.dirs), Files: d.files, User: a.as,
		Log: log, Tells: tells, Register: onStart}
}

// tells picks the log's lines that say why a server ended.
func tells(line string) bool {
	for _, word := range []string{"FATAL:", "PANIC:", "ERROR:", "error:", "parameter", "syntax error"} {
		if strings.Contains(line, word) {
			return true
		}
	}
	return false
}

// config is how to connect: through the socket in the data directory.
func (i *instance) config() *pgx.ConnConfig {
	config, err := parse("host=/ user=" + superuser + " database=" + maintenance)
	if err != nil {
		panic(err) // our own text, and no environment
	}
	socket := managed.Socket{Dir: i.sites.dataDir(), Name: socketName}
	config.DialFunc = func(ctx context.Context, _, _ string) (net.Conn, error) { return socket.Dial(ctx) }
	config.Password, config.Fallbacks = "", nil
	config.RuntimeParams = i.design.workloadSettings(sessionSettings(i.design.target, i.install.number))
	return config
}

// start starts the server and waits until it answers.
func (i *instance) start(ctx context.Context) error {
	// All processes of an earlier one are gone: see quit.
	for _, left := range []string{"postmaster.pid", socketName, socketName + ".lock"} {
		if err := os.Remove(filepath.Join(i.sites.dataDir(), left)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	args := arguments(i.doors.path(i.sites.dataDir()))
	if i.loading {
		args = append(args, i.design.loadArguments()...)
	}
	p, err := managed.Start(i.account.spec(i.install.postgres(), args, i.doors, i.sites.logPath(), i.design.target.OnStart))
	if err != nil {
		return err
	}
	i.mu.Lock()
	i.proc = p
	i.mu.Unlock()
	go i.watch(p)
	if err := p.Ready(ctx, startPatience, func(ctx context.Context) error { return i.link.exec(ctx, "SELECT 1") }); err != nil {
		i.quit()
		return err
	}
	dropSegment(i.sites.dataDir())
	return nil
}

func (i *instance) running() *managed.Process {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.proc
}

// watch ends what is left when the server's main process dies: a busy session
// would not notice, and work on.
func (i *instance) watch(p *managed.Process) {
	<-p.Exited()
	i.mu.Lock() // no other server starts meanwhile
	defer i.mu.Unlock()
	if i.proc == p {
		endProcesses(i.install.postgres(), i.sites.dataDir())
	}
}

// up is an error when the server is stopped or has died.
func (i *instance) up() error {
	p := i.running()
	if p == nil {
		return filewise.Errorf(filewise.CodeInternal, "", "the server of %s is stopped", i.design.layout.Name)
	}
	return classify(p.Died())
}

// died tells whether the server is known to have ended.
func (i *instance) died() bool { return i.up() != nil }

// why explains an error by the server's death where it has died.
func (i *instance) why(err error) error {
	p := i.running()
	if p == nil {
		return errors.Join(i.up(), err)
	}
	if code := codeOf(err); code == "" || strings.HasPrefix(code, "57P") {
		err = p.Why(err) // only a connection that broke, or found none, may mean a death
	}
	return classify(err)
}

// take hands the running server over to who ends it.
func (i *instance) take() *managed.Process {
	i.link.forget()
	i.mu.Lock()
	defer i.mu.Unlock()
	p := i.proc
	i.proc = nil
	return p
}

// stop ends the server cleanly (“fast shutdown”): everything is checkpointed.
func (i *instance) stop(ctx context.Context) error {
	p := i.take()
	if p == nil {
		return nil
	}
	err := p.Stop(ctx, syscall.SIGINT, stopPatience)
	endProcesses(i.install.postgres(), i.sites.dataDir())
	return classify(err)
}

// kill ends the server at once (SIGKILL); what it had in memory is lost. Its other
// processes are in groups of their own, and are ended one by one.
func (i *instance) kill() {
	if p := i.take(); p != nil {
		p.Kill()
	}
	endProcesses(i.install.postgres(), i.sites.dataDir())
}

// quit ends the server at once, in its own way (“immediate shutdown”): nothing is
// written, and shared memory and processes are gone.
func (i *instance) quit() {
	if p := i.take(); p != nil {
		// An error is a server that ended otherwise: it is gone either way.
		_ = p.Stop(context.Background(), syscall.SIGQUIT, quitPatience)
	}
	endProcesses(i.install.postgres(), i.sites.dataDir())
}
