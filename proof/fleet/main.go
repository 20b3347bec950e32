//go:build linux

// Command fleet has three workers measure a study on SQLite, PostgreSQL and MariaDB through a real Temporal. If this
// host permits, each worker has its own network namespace. The command kills workers, Temporal and the waiting command
// with SIGKILL. It proves that nothing is lost, counts twice or is left, and that nothing readable is in a history. It
// prints how long hosts wait between two trials, compared with "filewise run", and ends with one report. Then two
// workers load one PostgreSQL server in lockstep: go -C proof run ./fleet.
//
// -engines "" leaves the campaign out, and -drivers 0 the drivers. -simulate 10,100,1000 measures a fleet of that many
// made-up hosts instead.
package main

import (
	"context"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"filewise/cmd/filewise/filewisetest"
	"filewise/fleet"
)

// options holds the command line's options.
type options struct {
	kills, blocks, drivers, cells int
	every, window                 time.Duration
	engines, simulate             string
	seed                          uint64
}

func main() {
	var o options
	flag.IntVar(&o.kills, "kills", 10, "`number` of kills")
	flag.DurationVar(&o.every, "every", 2*time.Second, "mean `time` between two kills")
	flag.StringVar(&o.engines, "engines", "sqlite,postgres,mariadb", "`engines`, each an experiment (empty runs no campaign)")
	flag.IntVar(&o.blocks, "blocks", 6, "`blocks` of each experiment")
	flag.Uint64Var(&o.seed, "seed", 1, "`number` from which the kills follow")
	flag.IntVar(&o.drivers, "drivers", 2, "`number` of drivers that load one PostgreSQL in lockstep (0 runs none)")
	flag.StringVar(&o.simulate, "simulate", "", "`numbers` of made-up hosts, in place of all else")
	flag.IntVar(&o.cells, "cells", 100, "`cells` of each made-up host")
	flag.DurationVar(&o.window, "window", time.Second, "how long each cell of theirs is measured, in virtual `time`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := bench(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "fleet:", err)
		os.Exit(1)
	}
}

// hosts lists the workers by name, with their labels.
var hosts = []struct{ name, label string }{{"db1", "storage=nvme"}, {"db2", "storage=nvme"}, {"db3", "storage=network"}}

// ground holds the places and processes of the measurement.
type ground struct {
	dir, filewise, temporal, address string
	metrics                          string // the port of Temporal's metrics
	synced                           string // whether Temporal's storage is synced: FULL or OFF
	net                              *network
	far                              []string             // environment of the last host, which connects through the front
	fronted                          atomic.Int64         // calls through the front
	running                          map[string]*exec.Cmd // by name: temporal, campaign, and hosts
}

func bench(ctx context.Context, o options) (err error) {
	g := &ground{running: map[string]*exec.Cmd{}, synced: "FULL"}
	if o.simulate != "" {
		g.synced = "OFF" // no process is killed in this measurement
	}
	if g.dir, err = os.MkdirTemp("", "filewise-fleet-"); err != nil {
		return err
	}
	defer os.RemoveAll(g.dir)
	var names []string
	for _, h := range hosts {
		names = append(names, h.name)
	}
	g.net = newNetwork(ctx, append(names, driverNames(o.drivers)...))
	defer g.net.close(ctx)
	defer g.end()
	var engines []string
	if o.engines != "" {
		engines = strings.Split(o.engines, ",")
	}
	if err := errors.Join(os.Chmod(g.dir, 0o755), g.build(ctx, engines, o.blocks), g.start(ctx, "temporal")); err != nil {
		return err
	}
	if o.simulate != "" {
		return g.simulated(ctx, strings.Split(o.simulate, ","), o.cells, o.window)
	}
	if len(engines) > 0 {
		if err := g.campaign(ctx, o, len(engines)); err != nil {
			return err
		}
	}
	if o.drivers > 0 {
		return g.driven(ctx, o.drivers)
	}
	return nil
}

// campaign runs a campaign, kills its processes, and proves the results.
func (g *ground) campaign(ctx context.Context, o options, engines int) (err error) {
	if g.far, err = g.front(ctx); err != nil {
		return err
	}
	for _, h := range hosts {
		if err := g.start(ctx, h.name); err != nil {
			return err
		}
	}
	if err := g.known(ctx, len(hosts)); err != nil {
		return err
	}
	if err := g.killed(ctx, o); err != nil {
		return err
	}
	if o.kills == 0 { // a killed Temporal counts from 0 again
		if err := g.actions(ctx); err != nil {
			return err
		}
	}
	if err := g.stopped(ctx, o); err != nil {
		return err
	}
	return g.prove(ctx, engines*len(hosts))
}

// build makes the program, finds Temporal, and writes the study.
func (g *ground) build(ctx context.Context, engines []string, blocks int) error {
	out, err := exec.CommandContext(ctx, "../scripts/get-temporal").Output()
	if err != nil {
		return fmt.Errorf("scripts/get-temporal: %w", err)
	}
	g.temporal, g.filewise = strings.TrimSpace(string(out)), filepath.Join(g.dir, "filewise")
	if err := filewisetest.Build(ctx, g.filewise); err != nil {
		return err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(g.net.own(), "0"))
	if err != nil {
		return err
	}
	counters, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	g.address, g.metrics = l.Addr().String(), fmt.Sprint(counters.Addr().(*net.TCPAddr).Port)
	key := make([]byte, 32)
	for i := range key {
		key[i] = byte(rand.Uint32())
	}
	for name, value := range map[string]string{"TEMPORAL_ADDRESS": g.address, "TEMPORAL_NAMESPACE": "measuring",
		fleet.KeyVariable: base64.StdEncoding.EncodeToString(key)} {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	study := fmt.Sprintf("scenario: inserts\nfiles: [1, 2]\nsize: 16MiB\nwindow: 500ms\nwarm-up: 50ms\nmax-blocks: %d\n", blocks) +
		"goal: verdicts\nbudget: 0s\nconnections: 2\nstorage-limit: \"off\"\nseed: 7\nexperiments:\n"
	for _, e := range engines {
		study += "  - name: " + e + "\n    engine: " + e + "\n"
		if e != "postgres" { // layouts of other engines do not take turns, so that there is time between two trials
			study += "    sessions: false\n"
		}
	}
	return errors.Join(l.Close(), counters.Close(), os.WriteFile(g.study(), []byte(study), 0o600))
}

func (g *ground) study() string { return filepath.Join(g.dir, "study.yaml") }

// command returns a filewise command with a separate home.
func (g *ground) command(ctx context.Context, home string, args ...string) *exec.Cmd {
	line := g.net.in(home, append([]string{g.filewise}, args...)...)
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	dir := filepath.Join(g.dir, home)
	cmd.Env = append(os.Environ(), "FILEWISE_STATE="+filepath.Join(dir, "state"), "FILEWISE_STORE="+filepath.Join(dir, "store.db"),
		"FILEWISE_LOCK=fleet-"+filepath.Base(g.dir)+home)
	if home == hosts[len(hosts)-1].name {
		cmd.Env = append(cmd.Env, g.far...)
	}
	return cmd
}

func (g *ground) volume(host string) string { return filepath.Join(g.dir, host, "volume") }

// start starts Temporal, a host's worker, the campaign, or a command that reads it: show and fetch.
func (g *ground) start(ctx context.Context, name string) error {
	var cmd *exec.Cmd
	switch i := slices.IndexFunc(hosts, func(h struct{ name, label string }) bool { return h.name == name }); {
	case name == "temporal":
		_, port, err := net.SplitHostPort(g.address)
		if err != nil {
			return err
		}
		// Temporal's parts find each other at 127.0.0.1. Since each host has its own queue, queues need no partitions.
		cmd = exec.CommandContext(ctx, g.temporal, "server", "start-dev", "--headless", "--ip", "0.0.0.0", "--port", port, "--log-level", "never",
			"--metrics-port", g.metrics, "--namespace", "measuring", "--db-filename", g.file("temporal.db"),
			"--sqlite-pragma", "synchronous="+g.synced,
			"--dynamic-config-value", "matching.numTaskqueueReadPartitions=1", "--dynamic-config-value", "matching.numTaskqueueWritePartitions=1")
	case i >= 0:
		if err := os.MkdirAll(g.volume(name), 0o755); err != nil {
			return err
		}
		cmd = g.command(ctx, name, "worker", "--host", name, "--label", hosts[i].label, "--volume", "here="+g.volume(name))
	case name == "campaign":
		cmd = g.command(ctx, "home", "campaign", g.study(), "--name", "fleet")
	default:
		cmd = g.command(ctx, "home", "campaign", name, "fleet")
	}
	log, err := os.OpenFile(filepath.Join(g.dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	cmd.Stdout, cmd.Stderr = log, log
	g.running[name] = cmd
	return errors.Join(cmd.Start(), log.Close(), g.answers(ctx))
}

// answers returns once Temporal listens.
func (g *ground) answers(ctx context.Context) error {
	return until(ctx, "Temporal does not answer", func() bool {
		c, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", g.address)
		return err == nil && c.Close() == nil
	})
}

// until polls until so is true, for two minutes.
func until(ctx context.Context, otherwise string, so func() bool) error {
	for end := time.Now().Add(2 * time.Minute); !so(); {
		if ctx.Err() != nil || time.Now().After(end) {
			return errors.Join(errors.New(otherwise), ctx.Err())
		}
		time.Sleep(200 * time.Millisecond)
	}
	return nil
}

// known returns once campaigns list n hosts.
func (g *ground) known(ctx context.Context, n int) error {
	return g.asked(ctx, func(c fleet.Campaigns) error {
		return until(ctx, "the hosts do not come", func() bool { all, err := c.Hosts(ctx); return err == nil && len(all) == n })
	})
}

func (g *ground) asked(ctx context.Context, do func(fleet.Campaigns) error) error {
	c, err := fleet.Dial(ctx, g.address, nil)
	if err != nil {
		return err
	}
	defer c.Close()
	return do(c)
}

// kill kills a process, and waits for its end.
func (g *ground) kill(name string) error {
	cmd := g.running[name]
	err := cmd.Process.Kill()
	_ = cmd.Wait() // reports that the process was killed
	if errors.Is(err, os.ErrProcessDone) {
		err = nil
	}
	return err
}

// killed starts the campaign, and kills processes at random: workers, Temporal, and the commands that wait and read.
func (g *ground) killed(ctx context.Context, o options) error {
	if err := g.start(ctx, "campaign"); err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(o.seed, 0))
	names := []string{"campaign", "db2", "temporal", "db1", "db3"}
	for i := range o.kills {
		time.Sleep(o.every/4 + time.Duration(r.Int64N(int64(o.every))))
		name := names[i%len(names)]
		fmt.Printf("kill -9 %s\n", name)
		if err := g.kill(name); err != nil {
			return err
		}
		time.Sleep(time.Duration(r.IntN(1000)) * time.Millisecond)
		other := []string{"show", "fetch"}[i%2]
		if err := errors.Join(g.start(ctx, name), g.start(ctx, other)); err != nil {
			return err
		}
		time.Sleep(time.Duration(r.IntN(500)) * time.Millisecond)
		fmt.Printf("kill -9 campaign %s\n", other)
		if err := g.kill(other); err != nil {
			return err
		}
	}
	if err := g.kill("campaign"); err != nil {
		return err
	}
	for _, h := range hosts { // a worker that came while Temporal was away has ended; a service manager would start it again
		if err := errors.Join(g.kill(h.name), g.start(ctx, h.name)); err != nil {
			return err
		}
	}
	began := time.Now()
	out, err := g.command(ctx, "home", "campaign", g.study(), "--name", "fleet").CombinedOutput()
	fmt.Printf("%sthe end came %v after the last kill\n", out, time.Since(began).Round(time.Second))
	if n := strings.Count(string(out), "of 3 hosts"); err == nil && n < len(strings.Split(o.engines, ",")) {
		err = fmt.Errorf("its report speaks of all hosts %d times", n)
	}
	return err
}

// end ends the running processes.
func (g *ground) end() {
	for name := range g.running {
		_ = g.kill(name) // it may have ended
	}
}
