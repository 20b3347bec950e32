//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/pprof"
	"time"

	"filewise"
)

// maxDriveShare is the target of driving orders, in percent of all processors.
const maxDriveShare = 5.0

// client does orders for a while.
type client = func(context.Context) (work, error)

// rivals are a server, and the client that Filewise is compared with.
type rivals struct {
	server filewise.Server
	layout filewise.Layout
	peer   string
	most   float64                               // of the peer's processor time for a transaction
	theirs func(context.Context) (client, error) // when the data are there
	close  func() error
}

// driveFlags are those of the commands that drive orders.
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

// run loads orders into the server that open gives, and has both clients drive it.
func (f *driveFlags) run(ctx context.Context, args []string, stdout io.Writer, open func(context.Context, filewise.Workload) (*rivals, error)) (err error) {
	if err := f.parse(args); err != nil {
		return err
	}
	if *f.connections < 1 || *f.connections > 40 || *f.window < time.Second {
		return fmt.Errorf("1 to 40 connections, and a window of a second or more")
	}
	w, err := newOrders(*f.warehouses, *f.scale, *f.connections)
	if err != nil {
		return err
	}
	r, err := open(ctx, w)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	db, err := r.server.Build(ctx, r.layout, w.Program())
	if err != nil {
		return err
	}
	if _, err := loaded(ctx, db, w); err != nil {
		return err
	}
	theirs, err := r.theirs(ctx)
	if err != nil {
		return err
	}
	if *f.profile != "" {
		stop, err := profileTo(*f.profile)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stop()) }()
	}
	ours := func(ctx context.Context) (work, error) { return driven(ctx, db, w, *f.window) }
	rows, err := driveRows(ctx, *f.rounds, r.peer, r.most, ours, theirs)
	if err != nil {
		return err
	}
	return print(stdout, rows)
}

// driveRows compares what two clients take of the processors for a transaction.
func driveRows(ctx context.Context, rounds int, peer string, most float64, ours, theirs client) ([]row, error) {
	for _, client := range []client{ours, theirs} { // both have their first time behind them
		if _, err := client(ctx); err != nil {
			return nil, err
		}
	}
	var before, after runtime.MemStats
	var mallocs, ops float64
	counted := func(ctx context.Context) (work, error) {
		runtime.ReadMemStats(&before)
		w, err := ours(ctx)
		runtime.ReadMemStats(&after)
		mallocs, ops = mallocs+float64(after.Mallocs-before.Mallocs), ops+w.ops
		return w, err
	}
	d, err := interleaved(ctx, rounds, counted, theirs)
	if err != nil {
		return nil, err
	}
	ratios, shares := d.ratios(cpuPerOp), of(d.ours, machineShare)
	return []row{
		{what: "orders by filewise, processor time of the client a transaction", value: spreadOf("%.1f µs", of(d.ours, cpuPerOp))},
		{what: "  the same by " + peer, value: spreadOf("%.1f µs", of(d.theirs, cpuPerOp))},
		{"  their ratio within a round", spreadOf("%.2f", ratios), fmt.Sprintf("≤ %.1f", most), middle(ratios) <= most},
		{"  filewise's share of all processors", spreadOf("%.1f %%", shares), fmt.Sprintf("≤ %.0f %%", maxDriveShare), middle(shares) <= maxDriveShare},
		{what: "  share of " + peer, value: spreadOf("%.1f %%", of(d.theirs, machineShare))},
		{what: "  transactions a second by filewise · " + peer, value: spreadOf("%.0f", of(d.ours, rate)) + " · " + spreadOf("%.0f", of(d.theirs, rate))},
		{what: "  allocations a transaction, with opening and closing connections", value: fmt.Sprintf("%.1f", mallocs/ops)},
	}, nil
}

// profileTo profiles this process until stop.
func profileTo(path string) (stop func() error, err error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() error { pprof.StopCPUProfile(); return f.Close() }, nil
}
