//go:build linux

package main

import (
	"context"
	"fmt"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"filewise"
	"filewise/drive"
)

// The pacing of the open loop, against a loop of nothing but a timer.
const (
	pacingRate     = 10_000 // operations a second
	pacingTime     = time.Second
	pacingWorkers  = 16
	pacingRepeats  = 10
	maxPacingRatio = 1.2 // of the 99.9 % quantiles of how late a start is
)

// pacingRows measures both in turn, so that what other processes do meanwhile
// hits both, and takes the median of the ratios.
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

// bareTimer sleeps until each start, as simply as can be, and returns the 99.9 %
// quantile of how late it was, in µs.
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
	return float64(h.ValueAtQuantile(99.9)), nil
}

// drivenTimer is the same by the driver: latencies of operations that do nothing.
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
	return float64(h.ValueAtQuantile(99.9)), nil
}
