//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"filewise"
	"filewise/results/archive"
)

// driverNames returns the names of n drivers.
func driverNames(n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprint("driver", i+1))
	}
	return out
}

// driven has workers load one PostgreSQL server as the drivers of a run. It measures how far apart they start, and what
// one process with the same connections measures there.
func (g *ground) driven(ctx context.Context, n int) (err error) {
	url, err := g.postgres(ctx)
	if err != nil {
		return err
	}
	names := driverNames(n)
	for _, name := range names {
		cmd := g.command(ctx, name, "worker", "--host", name, "--no-password")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // as a service has: Linux shares processors between sessions first
		if err := cmd.Start(); err != nil {
			return err
		}
		// This matters if others keep the machine busy: nice works within a session, and this between sessions. A driver
		// without the right, or on a kernel without it, competes like any other process.
		_ = os.WriteFile(fmt.Sprintf("/proc/%d/autogroup", cmd.Process.Pid), []byte("-15"), 0)
		g.running[name] = cmd
	}
	for _, by := range [][]string{{"--drivers", strings.Join(names, ",")}, nil} {
		args := append([]string{"run", "inserts", "--target", url, "--no-password", "--files", "1,2", "--connections", "8", "--size", "4MiB",
			"--window", "300ms", "--warm-up", "100ms", "--interleave=false", "--max-blocks", "20", "--goal", "verdicts", "--budget", "0s",
			"--seed", "7", "--margin", "0.1"}, by...)
		out, err := g.command(ctx, "driven", args...).CombinedOutput()
		for tries := 0; err != nil && tries < 10; tries++ { // drivers that are late again and again end a run, which is then resumed
			out, err = g.command(ctx, "driven", "resume", "last", "--no-password").CombinedOutput()
		}
		if err != nil {
			return fmt.Errorf("%v: %w: %s", args, err, out)
		}
	}
	return g.lockstep(ctx, names)
}

// postgres starts a PostgreSQL server that filewise does not manage, and returns its URL.
func (g *ground) postgres(ctx context.Context) (string, error) {
	all, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err != nil || len(all) == 0 {
		return "", errors.Join(errors.New("there is no PostgreSQL in /usr/lib/postgresql"), err)
	}
	bin, data := filepath.Dir(all[len(all)-1]), filepath.Join(g.dir, "pg")
	as := &syscall.SysProcAttr{}
	if err := os.Mkdir(data, 0o700); err != nil {
		return "", err
	}
	if os.Getuid() == 0 { // the server refuses to run as root
		as.Credential = &syscall.Credential{Uid: 65534, Gid: 65534}
		if err := os.Chown(data, 65534, 65534); err != nil {
			return "", err
		}
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(g.net.own(), "0"))
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err = errors.Join(err, l.Close()); err != nil {
		return "", err
	}
	initdb := exec.CommandContext(ctx, filepath.Join(bin, "initdb"), "-D", data, "-U", "ada", "-A", "trust", "-N")
	initdb.SysProcAttr, initdb.Dir = as, data
	if out, err := initdb.CombinedOutput(); err != nil {
		return "", fmt.Errorf("initdb: %w: %s", err, out)
	}
	if err := trust(filepath.Join(data, "pg_hba.conf")); err != nil {
		return "", err
	}
	server := exec.CommandContext(ctx, all[len(all)-1], "-D", data, "-p", port, "-c", "listen_addresses="+g.net.own(), "-c",
		"unix_socket_directories=")
	server.SysProcAttr, server.Dir = as, data
	if err := server.Start(); err != nil {
		return "", err
	}
	g.running["postgres"] = server
	address := net.JoinHostPort(g.net.own(), port)
	return "postgres://ada@" + address + "/postgres?sslmode=disable", until(ctx, "PostgreSQL does not answer", func() bool {
		return exec.CommandContext(ctx, filepath.Join(bin, "pg_isready"), "-h", g.net.own(), "-p", port).Run() == nil
	})
}

// trust makes the server accept other hosts.
func trust(file string) error {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString("host all all 10.213.0.0/16 trust\n")
	return errors.Join(err, f.Close())
}

// lockstep prints how far apart the drivers have started, and the throughput of both runs.
func (g *ground) lockstep(ctx context.Context, names []string) error {
	home := filepath.Join(g.dir, "driven", "store.db")
	var logs [2]map[string][]float64 // of throughput, by layout
	var apart []time.Duration
	void := 0
	for i := range logs {
		r, err := archive.Load(ctx, home, fmt.Sprint(i+1))
		if err != nil {
			return err
		}
		logs[i] = map[string][]float64{}
		for _, t := range r.Trials {
			switch {
			case t.State != filewise.Done:
				void++
				fmt.Printf("void: %s\n", t.Reason)
				continue
			case i == 0:
				apart = append(apart, spread(t, names))
			}
			if !t.Cell.Pilot {
				logs[i][t.Cell.Layout] = append(logs[i][t.Cell.Layout], math.Log(t.Measures[0].Throughput()))
			}
		}
	}
	slices.Sort(apart)
	fmt.Printf("%d drivers, %d loads that count: they started %v apart in the median, %v in the 99th percentile, %v at most; %d void\n",
		len(names), len(apart), apart[len(apart)/2], apart[(len(apart)*99-1)/100], apart[len(apart)-1], void)
	for layout, by := range logs[0] {
		one := logs[1][layout]
		a, va := meanOf(by)
		b, vb := meanOf(one)
		half := 1.96 * math.Sqrt(va+vb)
		fmt.Printf("%s: %.0f a second by drivers, %.0f by one process: %+.1f %% (%+.1f … %+.1f)\n", layout, math.Exp(a), math.Exp(b),
			100*math.Expm1(a-b), 100*math.Expm1(a-b-half), 100*math.Expm1(a-b+half))
	}
	return nil
}

// spread returns the time between the starts of a trial's first and last driver, by this host's clock, which all of
// them share.
func spread(t filewise.Trial, names []string) time.Duration {
	starts := make([]float64, len(names))
	for _, d := range t.Measures[0].Deltas {
		name, is := strings.CutPrefix(d.Probe, filewise.ProbeDriver)
		switch i := slices.Index(names, name); {
		case !is || i < 0:
		case d.Name == "start after the instant":
			starts[i] += d.Value
		case d.Name == "clock behind the server's":
			starts[i] -= d.Value
		}
	}
	return time.Duration((slices.Max(starts) - slices.Min(starts)) * float64(time.Second)).Round(time.Microsecond)
}

// meanOf returns the mean and its variance.
func meanOf(x []float64) (mean, variance float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		variance += (v - mean) * (v - mean) / float64(len(x)-1) / float64(len(x))
	}
	return mean, variance
}
