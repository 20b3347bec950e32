//go:build linux

package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"filewise"
	"filewise/lab/drive"
	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// The targets for the driver's loop. With them, the tool takes less than 1 % of an operation of 50 µs, such as a commit
// that is not synced.
const (
	maxLoopNanos = 500
	// In effect no allocation: this is less than the variation between runs of encoding the histograms at the end of a
	// run.
	maxLoopAllocs = 0.001
)

// nothing is a session whose operations do nothing.
type nothing struct{}

func (nothing) Do(_ context.Context, _, n int64) (int64, error) { return n, nil }
func (nothing) Close() error                                    { return nil }

// loopRows measures processor time, since wall time would count what other processes take.
func loopRows(ctx context.Context, repeats int, ops int64) ([]row, error) {
	nanos := func(all []work) float64 { return 1e3 * middle(of(all, cpuPerOp)) }
	var bare []work
	err := inTurn(repeats, into(&bare, func() (work, error) { return bareLoop(ctx, ops) }))
	if err != nil {
		return nil, err
	}
	rows := []row{{what: "one clock reading and one call, without the driver", value: fmt.Sprintf("%.0f ns/op", nanos(bare))}}
	for _, workers := range []int{1, runtime.GOMAXPROCS(0), 16, 600} {
		var driven []work
		if err := inTurn(repeats, into(&driven, func() (work, error) { return driverLoop(ctx, workers, ops) })); err != nil {
			return nil, err
		}
		took, allocs := nanos(driven), middle(of(driven, mallocsPerOp))
		rows = append(rows,
			row{fmt.Sprintf("driver's loop, workers: %d", workers), fmt.Sprintf("%.0f ns/op (%.1f × bare)", took, took/nanos(bare)),
				fmt.Sprintf("< %d ns/op", maxLoopNanos), took < maxLoopNanos},
			row{"", fmt.Sprintf("%.3f allocs/op", allocs), "0 allocs/op", allocs < maxLoopAllocs})
	}
	return rows, nil
}

// bareLoop measures the least work of a loop: the call and reading the time.
func bareLoop(ctx context.Context, ops int64) (work, error) {
	var session filewise.Session = nothing{}
	var clock filewise.Clock = filewise.RealClock{}
	return bySelf(func() (float64, error) {
		for i := range ops {
			if _, err := session.Do(ctx, i, 1); err != nil {
				return 0, err
			}
			clock.Now()
		}
		return float64(ops), nil
	})
}

// driverLoop runs the driver with calls of one operation. It subtracts a run's fixed costs (workers, histograms),
// measured in a run with a tenth of the operations.
func driverLoop(ctx context.Context, workers int, ops int64) (work, error) {
	few, err := drivenRun(ctx, workers, ops/10)
	if err != nil {
		return work{}, err
	}
	many, err := drivenRun(ctx, workers, ops)
	return work{ops: many.ops - few.ops, cpu: many.cpu - few.cpu, mallocs: max(many.mallocs-few.mallocs, 0)}, err
}

func drivenRun(ctx context.Context, workers int, ops int64) (work, error) {
	load := drive.Load{Chunk: 1, Live: &drive.Live{}}
	for range workers {
		load.Sessions = append(load.Sessions, nothing{})
		load.Ops = append(load.Ops, ops/int64(workers))
	}
	return bySelf(func() (float64, error) {
		res, err := drive.Run(ctx, load)
		return float64(res.Ledger.Total()), err
	})
}

// The targets for the open loop's pacing, against a loop of nothing but a timer.
const (
	pacingRate     = 10_000 // operations a second
	pacingTime     = time.Second
	pacingWorkers  = 16
	pacingRepeats  = 10
	maxPacingRatio = 1.2 // ratio of the 99.9 % quantiles of how late starts are
)

// pacingRows measures both loops in turn, so that other processes' work affects both, and takes the median of the
// ratios.
func pacingRows(ctx context.Context) ([]row, error) {
	var bare, driven []float64
	err := inTurn(pacingRepeats, into(&bare, func() (float64, error) { return bareTimer(ctx) }),
		into(&driven, func() (float64, error) { return drivenTimer(ctx) }))
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("%d starts a second, 99.9 %% late by at most: ", pacingRate)
	return []row{
		told(what+"a timer alone", "%.0f µs", bare),
		told(fmt.Sprintf("%sopen loop, %d workers", what, pacingWorkers), "%.0f µs", driven),
		atMost(fmt.Sprintf("their ratio, median of %d", pacingRepeats), "%.2f", ratios(driven, bare), maxPacingRatio),
	}, nil
}

// bareTimer sleeps until each start, in the simplest way. It returns the 99.9 % quantile of how late the starts were,
// in µs.
func bareTimer(ctx context.Context) (float64, error) {
	h := hdr.New(1, int64(time.Minute/time.Microsecond), 3)
	start, gap := time.Now(), time.Second/pacingRate
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for due := time.Duration(0); due < pacingTime; due += gap {
		for {
			left := due - time.Since(start)
			if left <= 0 {
				break
			}
			timer.Reset(left)
			select {
			case <-timer.C:
			case <-ctx.Done():
				return 0, ctx.Err()
			}
		}
		if err := h.RecordValue(max(int64((time.Since(start)-due)/time.Microsecond), 1)); err != nil {
			return 0, err
		}
	}
	return float64(h.ValueAtPercentile(99.9)), nil
}

// drivenTimer returns the same quantile for the driver: the latencies of operations that do nothing.
func drivenTimer(ctx context.Context) (float64, error) {
	load := drive.Load{Chunk: 1, Window: pacingTime, Rate: pacingRate, Arrivals: drive.Uniform}
	for range pacingWorkers {
		load.Sessions = append(load.Sessions, filewise.Session(nothing{}))
	}
	res, err := drive.Run(ctx, load)
	if err != nil {
		return 0, err
	}
	h, err := drive.DecodeHist(res.Measure.Hist)
	if err != nil {
		return 0, err
	}
	return float64(h.ValueAtPercentile(99.9)), nil
}
