//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"filewise"
	"filewise/engine/postgres"
)

// pgPort is in the name of the server's socket.
const pgPort = 5432

// peerBench are a server of PostgreSQL, reached by its socket as an external one,
// and the programs of its own that do the same as Filewise.
type peerBench struct {
	scratch string
	bin     string // the directory of its programs
	as      *syscall.SysProcAttr
	process *exec.Cmd // nil: not started
	server  filewise.Server
	target  filewise.Target
}

// pgSettings are those of a server with room for the data, which syncs every commit.
var pgSettings = []string{"listen_addresses=", "unix_socket_directories=.", "port=5432", "shared_buffers=1GB", "max_wal_size=4GB", "maintenance_work_mem=256MB"}

// bin is the flag of PostgreSQL's programs, which are not on the path.
func (f peerFlags) bin() *string {
	return f.String("bin", "/usr/lib/postgresql/15/bin", "`directory` of the server's programs, psql and pgbench")
}

// openPeers starts the server. Close ends it.
func openPeers(ctx context.Context, dir, bin string) (_ *peerBench, err error) {
	b := &peerBench{bin: bin}
	if b.scratch, err = os.MkdirTemp(dir, "fw-bench-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.close())
		}
	}()
	if b.scratch, err = filepath.Abs(b.scratch); err != nil {
		return nil, err
	}
	if err := b.account(); err != nil {
		return nil, err
	}
	if err := b.start(ctx); err != nil {
		return nil, err
	}
	b.target = filewise.Target{Engine: "postgres", Mode: filewise.External, Durability: filewise.DurabilityFull, Volumes: []filewise.Volume{{Name: "default"}},
		Address: &filewise.Address{Scheme: "postgres", Host: b.data(), Port: pgPort, User: "filewise", Path: "postgres"}}
	b.server, err = (postgres.Engine{}).Open(ctx, b.target)
	return b, err
}

// data is the server's directory, where its socket is too.
func (b *peerBench) data() string { return filepath.Join(b.scratch, "data") }

// account finds whom the server runs as: it refuses root.
func (b *peerBench) account() error {
	if err := os.Chmod(b.scratch, 0o755); err != nil || os.Geteuid() != 0 {
		return err
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return err
	}
	uid, uidErr := strconv.ParseUint(u.Uid, 10, 32)
	gid, gidErr := strconv.ParseUint(u.Gid, 10, 32)
	if err := errors.Join(uidErr, gidErr, os.Chown(b.scratch, int(uid), int(gid))); err != nil {
		return err
	}
	b.as = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	return nil
}

// start makes a server and waits until it answers.
func (b *peerBench) start(ctx context.Context) error {
	initdb := exec.CommandContext(ctx, b.program("initdb"), "-D", b.data(), "-U", "filewise", "-A", "trust", "--encoding=UTF8", "--no-locale")
	initdb.Env, initdb.Dir, initdb.SysProcAttr = environment(), b.scratch, b.as
	if _, _, err := byCommand(initdb); err != nil {
		return err
	}
	args := []string{"-D", b.data()}
	for _, s := range pgSettings {
		args = append(args, "-c", s)
	}
	server := exec.CommandContext(ctx, b.program("postgres"), args...)
	server.Env, server.Dir, server.SysProcAttr = environment(), b.scratch, b.as
	server.Cancel = func() error { return server.Process.Signal(syscall.SIGINT) } // its “fast shutdown”
	if err := server.Start(); err != nil {
		return err
	}
	b.process = server
	for limit := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		_, _, err := b.psql(ctx, "postgres", "SELECT 1")
		if err == nil || time.Now().After(limit) {
			return err
		}
	}
}

func (b *peerBench) close() error {
	var errs []error
	if b.server != nil {
		errs = append(errs, b.server.Close())
	}
	if b.process != nil {
		errs = append(errs, b.process.Cancel(), b.process.Wait())
	}
	return errors.Join(append(errs, os.RemoveAll(b.scratch))...)
}

// connect are the words by which the server's own programs find a database.
func (b *peerBench) connect(database string) []string {
	return []string{"-h", b.data(), "-p", fmt.Sprint(pgPort), "-U", "filewise", "-d", database}
}

// program is one of the server's own programs.
func (b *peerBench) program(name string) string { return filepath.Join(b.bin, name) }

// environment is without the user's own PG* variables.
func environment() []string {
	var all []string
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "PG") {
			all = append(all, pair)
		}
	}
	return all
}

func plainTable() filewise.Layout {
	return filewise.Layout{Name: "plain table", Kind: filewise.KindSingle, Data: filewise.Spread{Files: 1, Bytes: 512 << 20, Allocation: filewise.Growing, Placement: filewise.PlaceOne}}
}
