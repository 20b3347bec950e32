//go:build linux

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"filewise"
)

// product describes a server whose own clients do the same work as Filewise.
type product struct {
	engine filewise.Engine
	layout filewise.Layout // tables as users would have them
	// command returns a program's command line for a purpose: install, serve, or execute on a database.
	command  func(p *peer, purpose, database string, statements ...string) []string
	end      syscall.Signal // ends the server
	address  func(p *peer) *filewise.Address
	builds   string // the query for the databases that Filewise has built
	mistaken string // a word in a client's output that marks failures

	driver   string  // the program that drives orders
	most     float64 // share of its processor time that a transaction may take
	driving  func(p *peer, database string, w filewise.Workload, window time.Duration) ([]string, error)
	reported *regexp.Regexp // matches the number of transactions in its output

	loader string // describes how its client loads
	copied string // the statement that loads a table's columns from a file
	names  string // a table's name as the engine's statements write it
}

// peer is a server that is started for a comparison, and reached by its socket as an external server.
type peer struct {
	*product
	scratch, bin string
	as           *syscall.SysProcAttr
	process      *exec.Cmd // nil means not started
	server       filewise.Server
	target       filewise.Target
}

// openPeer starts the server with additional settings. Close ends it.
func openPeer(ctx context.Context, made *product, dir, bin string, settings ...string) (_ *peer, err error) {
	p := &peer{product: made, bin: bin}
	if p.scratch, err = scratchIn(dir); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.close())
		}
	}()
	if err := p.account(); err != nil {
		return nil, err
	}
	if _, _, err := byCommand(p.program(ctx, p.command(p, "install", ""))); err != nil {
		return nil, err
	}
	if err := p.start(ctx, settings); err != nil {
		return nil, err
	}
	p.target = filewise.Target{Engine: p.engine.Name(), Mode: filewise.External, Durability: filewise.DurabilityFull,
		Volumes: []filewise.Volume{{Name: "default"}}, Address: p.address(p)}
	p.server, err = p.engine.Open(ctx, p.target)
	return p, err
}

// scratchIn makes a directory that another account can reach, and returns its full path.
func scratchIn(dir string) (string, error) {
	path, err := os.MkdirTemp(dir, "filewise-bench-")
	if err != nil {
		return "", err
	}
	whole, err := filepath.Abs(path)
	return whole, errors.Join(err, os.Chmod(path, 0o755))
}

// account sets the account that the server runs as, since PostgreSQL's refuses root.
func (p *peer) account() error {
	u, err := databaseUser(p.engine.Name())
	if err != nil || u == nil {
		return err
	}
	p.as = &syscall.SysProcAttr{Credential: u}
	return os.Chown(p.scratch, int(u.Uid), int(u.Gid))
}

func (p *peer) data() string   { return filepath.Join(p.scratch, "data") }
func (p *peer) socket() string { return filepath.Join(p.scratch, "s") }

// program returns a command without the user's own PG* variables.
func (p *peer) program(ctx context.Context, line []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Env, cmd.Dir, cmd.SysProcAttr = environment(), p.scratch, p.as
	return cmd
}

func environment() []string {
	return filewise.Those(os.Environ(), func(pair string) bool { return !strings.HasPrefix(pair, "PG") })
}

// start starts the server and waits until it answers.
func (p *peer) start(ctx context.Context, settings []string) error {
	server := p.program(ctx, append(p.command(p, "serve", ""), settings...))
	server.Cancel = func() error { return server.Process.Signal(p.end) }
	if err := server.Start(); err != nil {
		return err
	}
	p.process = server
	for limit := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		_, _, err := p.execute(ctx, "", "SELECT 1")
		if err == nil || time.Now().After(limit) {
			return err
		}
	}
}

func (p *peer) close() error {
	var errs []error
	if p.server != nil {
		errs = append(errs, p.server.Close())
	}
	if p.process != nil {
		errs = append(errs, p.process.Cancel(), p.process.Wait())
	}
	return errors.Join(append(errs, os.RemoveAll(p.scratch))...)
}

// execute has the server's own client execute statements.
func (p *peer) execute(ctx context.Context, database string, statements ...string) (work, []byte, error) {
	return byCommand(p.program(ctx, p.command(p, "execute", database, statements...)))
}

// built returns the name of the database of the server's only build.
func (p *peer) built(ctx context.Context) (string, error) {
	_, out, err := p.execute(ctx, "", p.builds)
	names := strings.Fields(string(out))
	if err == nil && len(names) != 1 {
		err = fmt.Errorf("databases %q, expected one", names)
	}
	if err != nil {
		return "", err
	}
	return names[0], nil
}

// drives returns a client that has the server's own client do the same work.
func (p *peer) drives(ctx context.Context, w filewise.Workload, window time.Duration) (client, error) {
	database, err := p.built(ctx)
	if err != nil {
		return nil, err
	}
	line, err := p.driving(p, database, w, window)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (work, error) {
		w, out, err := byCommand(p.program(ctx, line))
		if err != nil {
			return w, err
		}
		found := p.reported.FindSubmatch(out)
		if found == nil || p.mistaken != "" && strings.Contains(string(out), p.mistaken) {
			return w, fmt.Errorf("%s: %s", p.driver, out)
		}
		w.ops, err = strconv.ParseFloat(string(found[1]), 64)
		return w, err
	}, nil
}

// peerFlags holds the flags of the commands that compare with a server's own programs.
type peerFlags struct {
	*flag.FlagSet
	rounds, warehouses *int
	scale              *float64
	dir, bin           *string
}

func newPeerFlags(name string, rounds, warehouses int, scale float64) peerFlags {
	f := flag.NewFlagSet("bench "+name, flag.ContinueOnError)
	return peerFlags{f, f.Int("rounds", rounds, "`times` that both are measured, interleaved; the median of the ratios counts"),
		f.Int("warehouses", warehouses, "`number` of warehouses"), f.Float64("scale", scale, "customers and items by the specification's"),
		f.String("dir", ".", "`directory` on the storage in question, where a scratch directory is made"),
		f.String("bin", "/usr/lib/postgresql/15/bin", "`directory` of PostgreSQL's programs, which are not on the path")}
}

func (f peerFlags) parse(args []string) error {
	if err := f.Parse(args); err != nil {
		return err
	}
	if *f.rounds < 1 || *f.warehouses < 1 || !(*f.scale > 0 && *f.scale <= 1) || f.NArg() > 0 {
		return fmt.Errorf("at least 1 round and 1 warehouse, a scale above 0 and up to 1, and no further arguments")
	}
	return nil
}

// command is a command of the bench.
type command = func(ctx context.Context, args []string, stdout io.Writer) error
