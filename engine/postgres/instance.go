package postgres

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"

	"filewise/engine/internal/server"
	"filewise/engine/postgres/client"
	"filewise/engine/postgres/installed"
	"filewise/internal/filesystem"
)

// socketName is PostgreSQL's name for the socket of port 5432.
const socketName = ".s.PGSQL.5432"

// instance is one managed server on its own files.
type instance struct {
	install installed.Server
	account installed.Account
	design  *design
	sites   sites
	handles *server.Handles
	link    *client.Link
	life    *server.Life
	settle  func(context.Context) error // the build's
	loading bool                        // the server is started for a load
	copied  bool                        // the files are a copy of a loaded build
}

// newInstance makes the directories of a build and calls fill. If it fails, it leaves nothing.
func newInstance(in installed.Server, a installed.Account, d *design, s sites, fill func(*instance) error) (*instance, error) {
	i, err := bareInstance(in, a, d, s)
	if err != nil {
		return nil, err
	}
	if err := fill(i); err != nil {
		return nil, errors.Join(client.Failed("creating the server's files", err), i.remove())
	}
	return i, nil
}

// bareInstance makes the directories of a server, with no files in them.
func bareInstance(in installed.Server, a installed.Account, d *design, s sites) (_ *instance, err error) {
	if err := server.MakeDirs(s.dirs...); err != nil {
		return nil, err
	}
	i := &instance{install: in, account: a, design: d, sites: s}
	if i.handles, err = a.Open(s.dirs); err != nil {
		return nil, errors.Join(err, i.remove())
	}
	i.link = client.New(i.config(), i.why)
	i.life = server.NewLife(server.Control{
		Name: d.layout.Name, Dirs: s.dirs, Spec: i.spec,
		Ask:      func(ctx context.Context) error { return i.link.Exec(ctx, "SELECT 1") },
		Started:  func() { installed.DropSegment(s.dirs[s.home], s.dataDir()) },
		Leave:    i.link.Forget,
		Gone:     func() { server.EndProcesses(in.Path(), s.dataDir()) }, // these processes have their own groups
		Shutdown: syscall.SIGINT,                                         // “fast shutdown”: everything is checkpointed
		Quit:     syscall.SIGQUIT,                                        // “immediate shutdown”: shared memory is gone as well
		Settle:   func(ctx context.Context) error { return i.settle(ctx) },
		Prepare:  func(context.Context) error { i.loading = false; return nil }, // from the next start on
		Restored: i.give, Explain: client.Classify,
	})
	return i, nil
}

// give gives the files to the server's user. After a reset, files that were gone have been made again by Filewise's
// user.
func (i *instance) give() error {
	for _, dir := range i.sites.dirs {
		if err := i.account.Give(dir, dir); err != nil {
			return err
		}
	}
	return nil
}

// fill makes the data directory and the tablespaces' directories. It syncs all of them, so that writing them is not
// measured.
func (i *instance) fill(ctx context.Context, template string) error {
	if err := server.CopyTree(ctx, filepath.Dir(template), template, i.sites.dataDir()); err != nil {
		return err
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
	if err := os.WriteFile(i.sites.config(), []byte(i.design.file(i.install.Number)+i.archiveSettings()), 0o600); err != nil {
		return err
	}
	return i.settleFiles()
}

// settleFiles gives the files to the server's user and syncs them.
func (i *instance) settleFiles() error {
	if err := i.give(); err != nil {
		return err
	}
	return i.sync()
}

// remove removes the directories that newInstance made, with all files. The server must have ended.
func (i *instance) remove() error {
	if i.handles != nil {
		i.handles.Close()
	}
	return server.RemoveDirs(i.sites.dirs)
}

// config returns the settings to connect through the socket in the data directory.
func (i *instance) config() *pgx.ConnConfig {
	config, err := client.Parse("host=/ user=" + installed.Superuser + " database=" + client.Maintenance)
	if err != nil {
		panic(err) // the text is constant and the environment is not read
	}
	socket := server.Socket{Dir: i.sites.dataDir(), Name: socketName}
	config.DialFunc = func(ctx context.Context, _, _ string) (net.Conn, error) { return socket.Dial(ctx) }
	config.Password, config.Fallbacks = "", nil
	config.RuntimeParams = i.design.workloadSettings(client.SessionSettings(i.install.Number))
	return config
}

// spec returns how to start the server.
func (i *instance) spec() (server.Spec, error) {
	// All processes of an earlier server are gone.
	for _, left := range []string{"postmaster.pid", socketName, socketName + ".lock"} {
		if err := filesystem.RemoveIn(i.sites.dirs[i.sites.home], filepath.Join(i.sites.dataDir(), left)); err != nil {
			return server.Spec{}, err
		}
	}
	command := i.design.command(i.install, i.handles.Path(i.sites.dataDir()), i.loading)
	return i.account.Spec(command, i.handles, i.sites.logPath(), i.design.target.Starts(i.loading)), nil
}

// died reports whether the server is known to have ended.
func (i *instance) died() bool {
	_, err := i.life.Running()
	return err != nil
}

// why adds the server's death to an error, if the server has died.
func (i *instance) why(err error) error {
	p := i.life.Process()
	if p == nil {
		_, stopped := i.life.Running()
		return errors.Join(stopped, err)
	}
	if code := client.CodeOf(err); code == "" || strings.HasPrefix(code, "57P") {
		err = p.Why(err) // only a broken or refused connection can mean that the server died
	}
	return client.Classify(err)
}
