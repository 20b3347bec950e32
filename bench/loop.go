//go:build linux

package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"filewise"
	"filewise/drive"
)

// The targets of the driver's loop: with them, the tool is less than 1 % of an
// operation of 50 µs, a commit that is not synced.
const (
	maxLoopNanos = 500
	// No allocation: below what the histograms' encoding at the end of a run
	// differs by from one run to the next.
	maxLoopAllocs = 0.001
)

// nothing is a session whose operations do nothing.
type nothing struct{}

func (nothing) Do(_ context.Context, _, n int64) (int64, error) { return n, nil }
func (nothing) Close() error                                    { return nil }

// cost is what one operation costs: processor time (wall time would count what
// other processes take), and allocations.
type cost struct{ nanos, allocs float64 }

func loopRows(ctx context.Context, repeats int, ops int64) ([]row, error) {
	bare, err := median(repeats, func() (cost, error) { return bareLoop(ctx, ops) })
	if err != nil {
		return nil, err
	}
	rows := []row{{what: "one clock reading and one call, without the driver",
		value: fmt.Sprintf("%.0f ns/op", bare.nanos)}}
	for _, workers := range []int{1, runtime.GOMAXPROCS(0), 16, 600} {
		c, err := median(repeats, func() (cost, error) { return driverLoop(ctx, workers, ops) })
		if err != nil {
			return nil, err
		}
		rows = append(rows,
			row{"driver's loop, workers: " + strconv.Itoa(workers), fmt.Sprintf("%.0f ns/op (%.1f × bare)", c.nanos, c.nanos/bare.nanos),
				fmt.Sprintf("< %d ns/op", maxLoopNanos), c.nanos < maxLoopNanos},
			row{"", fmt.Sprintf("%.3f allocs/op", c.allocs), "0 allocs/op", c.allocs < maxLoopAllocs})
	}
	return rows, nil
}

// bareLoop is what a loop cannot do without: the call and the time.
func bareLoop(ctx context.Context, ops int64) (cost, error) {
	var session filewise.Session = nothing{}
	var clock filewise.Clock = filewise.RealClock{}
	start, err := processorTime()
	if err != nil {
		return cost{}, err
	}
	for i := range ops {
		if _, err := session.Do(ctx, i, 1); err != nil {
			return cost{}, err
		}
		clock.Now()
	}
	end, err := processorTime()
	return cost{nanos: float64(end-start) / float64(ops)}, err
}

// driverLoop runs the driver with calls of one operation. What a run costs once
// (workers, histograms) is taken out as the cost of a run with a tenth of the
// operations.
func driverLoop(ctx context.Context, workers int, ops int64) (cost, error) {
	few, err := drivenRun(ctx, workers, ops/10)
	if err != nil {
		return cost{}, err
	}
	many, err := drivenRun(ctx, workers, ops)
	if err != nil {
		return cost{}, err
	}
	n := float64(many.ops - few.ops)
	return cost{nanos: float64(many.took-few.took) / n,
		allocs: max(float64(many.mallocs)-float64(few.mallocs), 0) / n}, nil
}

type usage struct {
	ops     int64
	took    time.Duration // of the processors
	mallocs uint64
}

func drivenRun(ctx context.Context, workers int, ops int64) (usage, error) {
	load := drive.Load{Chunk: 1, Live: &drive.Live{}}
	for range workers {
		load.Sessions = append(load.Sessions, nothing{})
		load.Ops = append(load.Ops, ops/int64(workers))
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start, err := processorTime()
	if err != nil {
		return usage{}, err
	}
	res, err := drive.Run(ctx, load)
	if err != nil {
		return usage{}, err
	}
	end, err := processorTime()
	runtime.ReadMemStats(&after)
	return usage{res.Ledger.Total(), end - start, after.Mallocs - before.Mallocs}, err
}

// processorTime is what this process has used of the processors so far.
func processorTime() (time.Duration, error) {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0, fmt.Errorf("getrusage: %w", err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}

// median repeats a measurement and returns the medians of its figures.
func median(repeats int, measure func() (cost, error)) (cost, error) {
	var nanos, allocs []float64
	for range repeats {
		c, err := measure()
		if err != nil {
			return cost{}, err
		}
		nanos, allocs = append(nanos, c.nanos), append(allocs, c.allocs)
	}
	slices.Sort(nanos)
	slices.Sort(allocs)
	return cost{nanos[repeats/2], allocs[repeats/2]}, nil
}
