//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/pprof"
	"time"

	"filewise"
	"filewise/lab/drive"
	"filewise/lab/experiment"
)

// maxDriveShare is the target for driving orders, in percent of all processors.
const maxDriveShare = 5.0

// driveFlags holds the flags of the commands that drive orders.
type driveFlags struct {
	peerFlags
	connections *int
	window      *time.Duration
	profile     *string
}

func newDriveFlags(name string) *driveFlags {
	f := newPeerFlags(name, 9, 4, 0.1)
	return &driveFlags{
		peerFlags:   f,
		connections: f.Int("connections", 8, "`number` of connections of each client"),
		window:      f.Duration("window", 10*time.Second, "`time` that each client works in a round"),
		profile:     f.String("profile", "", "`file` for a profile of this process's processor time, for go tool pprof"),
	}
}

func (f *driveFlags) workload(args []string) (filewise.Workload, error) {
	if err := f.parse(args); err != nil {
		return nil, err
	}
	if *f.connections < 1 || *f.connections > 40 || *f.window < time.Second {
		return nil, fmt.Errorf("1 to 40 connections, and a window of a second or more")
	}
	return newOrders(*f.warehouses, *f.scale, *f.connections)
}

// drivePeer returns a command that drives orders, and has the server's own client drive them too.
func drivePeer(made *product) command {
	return func(ctx context.Context, args []string, stdout io.Writer) (err error) {
		f := newDriveFlags("drive-" + made.engine.Name())
		w, err := f.workload(args)
		if err != nil {
			return err
		}
		p, err := openPeer(ctx, made, *f.dir, *f.bin)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, p.close()) }()
		db, err := loadedBuild(ctx, p.server, p.layout, w)
		if err != nil {
			return err
		}
		theirs, err := p.drives(ctx, w, *f.window)
		if err != nil {
			return err
		}
		stop, err := profileTo(*f.profile)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stop()) }()
		d, err := warmed(ctx, *f.rounds, func(ctx context.Context) (work, error) { return driven(ctx, db, w, *f.window) }, theirs)
		if err != nil {
			return err
		}
		return print(stdout, []row{
			told("orders by filewise, processor time of the client a transaction", "%.1f µs", of(d.ours, cpuPerOp)),
			told("  the same by "+p.driver, "%.1f µs", of(d.theirs, cpuPerOp)),
			atMost("  their ratio within a round", "%.2f", d.ratios(cpuPerOp), p.most),
			atMost("  filewise's share of all processors", "%.1f %%", of(d.ours, machineShare), maxDriveShare),
			told("  share of "+p.driver, "%.1f %%", of(d.theirs, machineShare)),
			told("  transactions a second by filewise · "+p.driver, "%.0f", of(d.ours, rate), of(d.theirs, rate)),
			told("  allocations a transaction, with opening and closing connections", "%.1f", of(d.ours, mallocsPerOp)),
		})
	}
}

// warmed returns the rounds of two clients after a first round, which does not count.
func warmed(ctx context.Context, rounds int, ours, theirs client) (duel, error) {
	if _, err := interleaved(ctx, 1, ours, theirs); err != nil {
		return duel{}, err
	}
	return interleaved(ctx, rounds, ours, theirs)
}

// driven has all connections of the workload's first phase work for a window.
func driven(ctx context.Context, db *filewise.Database, w filewise.Workload, window time.Duration) (work, error) {
	phase := w.Program().Phases[0]
	return bySelf(func() (float64, error) {
		sessions, err := experiment.Connect(ctx, db, 0, phase.Connections)
		if err != nil {
			return 0, errors.Join(err, experiment.CloseAll(sessions))
		}
		result, err := drive.Run(ctx, drive.Load{Sessions: sessions, Window: window, Chunk: 1, Multiple: 1, Live: new(drive.Live),
			Retry: w.Program().Retry, Types: phase.Types, TypeOf: phase.Args.(filewise.TypedArgs).TypeOf})
		return float64(result.Ledger.Total()), errors.Join(err, experiment.CloseAll(sessions))
	})
}

// profileTo profiles this process until stop is called. Without a path, it does nothing.
func profileTo(path string) (stop func() error, err error) {
	if path == "" {
		return func() error { return nil }, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() error { pprof.StopCPUProfile(); return f.Close() }, nil
}
