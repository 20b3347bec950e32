//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"filewise"
	"filewise/internal/exchange"
)

// maxHotPath limits a transaction's processor time with internal/exchange's connections, relative to package net's.
// Above it, the package gains nothing.
const maxHotPath = 0.95

// runHotPath is the command hotpath. It measures what internal/exchange gains.
func runHotPath(ctx context.Context, args []string, stdout io.Writer) error {
	f := newDriveFlags("hotpath")
	names := f.String("engines", "postgres,mariadb,mysql", "`engines` to measure")
	w, err := f.workload(args)
	if err != nil {
		return err
	}
	stop, err := profileTo(*f.profile)
	if err != nil {
		return err
	}
	var rows []row
	for name := range strings.SplitSeq(*names, ",") {
		engine, ok := engines[name]
		if !ok {
			return fmt.Errorf("there is no engine %q here", name)
		}
		found, err := hotPath(ctx, engine, w, f)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		rows = append(rows, found...)
	}
	return errors.Join(print(stdout, rows), stop())
}

func hotPath(ctx context.Context, engine filewise.Engine, w filewise.Workload, f *driveFlags) (_ []row, err error) {
	s, err := openManaged(ctx, engine, *f.dir, filewise.DurabilityFull)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	db, err := loadedBuild(ctx, s, s.growing(1, 512<<20), w)
	if err != nil {
		return nil, err
	}
	defer exchange.Off.Store(false)
	by := func(off bool) client {
		return func(ctx context.Context) (work, error) {
			exchange.Off.Store(off)
			return driven(ctx, db, w, *f.window)
		}
	}
	d, err := warmed(ctx, *f.rounds, by(false), by(true))
	if err != nil {
		return nil, err
	}
	return []row{
		told(engine.Name()+": processor time of the client a transaction of orders", "%.1f µs", of(d.ours, cpuPerOp)),
		told("  the same by connections of package net", "%.1f µs", of(d.theirs, cpuPerOp)),
		atMost("  their ratio within a round", "%.2f", d.ratios(cpuPerOp), maxHotPath),
		told("  of all processors, and by package net", "%.1f %%", of(d.ours, machineShare), of(d.theirs, machineShare)),
		told("  transactions a second, and by package net", "%.0f", of(d.ours, rate), of(d.theirs, rate)),
	}, nil
}
