//go:build linux

package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"filewise"
	"filewise/engine/mariadb"
)

// mariaBench are a server of MariaDB, reached by its socket as an external one, and
// the programs that do the same as Filewise.
type mariaBench struct {
	scratch string
	process *exec.Cmd // nil: not started
	server  filewise.Server
	target  filewise.Target
}

// mariaSettings are those of a server with room for the data, which syncs every commit.
var mariaSettings = []string{"--skip-networking", "--skip-log-bin", "--local-infile=1", "--innodb-buffer-pool-size=1G", "--innodb-log-file-size=1G"}

// openMaria starts the server, with further settings. Close ends it.
func openMaria(ctx context.Context, dir string, settings ...string) (_ *mariaBench, err error) {
	b := &mariaBench{}
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
	if err := b.start(ctx, settings); err != nil {
		return nil, err
	}
	b.target = filewise.Target{Engine: "mariadb", Mode: filewise.External, Durability: filewise.DurabilityFull, Volumes: []filewise.Volume{{Name: "default"}},
		Address: &filewise.Address{Scheme: "mariadb", Host: b.socket(), User: "root"}}
	b.server, err = (mariadb.Engine{}).Open(ctx, b.target)
	return b, err
}

func (b *mariaBench) socket() string { return filepath.Join(b.scratch, "s") }

// start makes a server and waits until it answers.
func (b *mariaBench) start(ctx context.Context, settings []string) error {
	data := "--datadir=" + filepath.Join(b.scratch, "data")
	var as []string
	if os.Geteuid() == 0 {
		as = []string{"--user=root"}
	}
	install := exec.CommandContext(ctx, "mariadb-install-db", append([]string{"--no-defaults", data, "--auth-root-authentication-method=normal", "--skip-test-db"}, as...)...)
	if _, _, err := byCommand(install); err != nil {
		return err
	}
	args := append([]string{"--no-defaults", data, "--socket=" + b.socket(), "--pid-file=" + filepath.Join(b.scratch, "pid")}, slices.Concat(mariaSettings, settings)...)
	server := exec.CommandContext(ctx, "mariadbd", append(args, as...)...)
	server.Cancel = func() error { return server.Process.Signal(syscall.SIGTERM) }
	if err := server.Start(); err != nil {
		return err
	}
	b.process = server
	for limit := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		_, _, err := b.client(ctx, "", "SELECT 1")
		if err == nil || time.Now().After(limit) {
			return err
		}
	}
}

func (b *mariaBench) close() error {
	var errs []error
	if b.server != nil {
		errs = append(errs, b.server.Close())
	}
	if b.process != nil {
		errs = append(errs, b.process.Cancel(), b.process.Wait())
	}
	return errors.Join(append(errs, os.RemoveAll(b.scratch))...)
}

// client has the server's own client execute statements.
func (b *mariaBench) client(ctx context.Context, database string, statements ...string) (work, []byte, error) {
	cmd := exec.CommandContext(ctx, "mariadb", "--no-defaults", "--socket="+b.socket(), "--user=root", "--local-infile=1", "--batch", "--skip-column-names",
		"-e", strings.Join(statements, ";\n"), database)
	return byCommand(cmd)
}

// ownTables is the layout of tables as users have them, each with its own file.
func ownTables() filewise.Layout {
	return filewise.Layout{Name: "tables", Kind: filewise.KindPerTable, Data: filewise.Spread{Files: 9, Bytes: 512 << 20, Allocation: filewise.Growing, Placement: filewise.PlaceOne}}
}
