//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// work holds a client's work with its costs.
type work struct {
	ops     float64       // transactions, rows
	cpu     time.Duration // user and system time of the client alone
	wall    time.Duration
	mallocs float64 // of this process
}

// cpuPerOp returns the client's processor time per operation, in microseconds.
func cpuPerOp(w work) float64 { return float64(w.cpu.Nanoseconds()) / 1e3 / w.ops }

// rate returns operations per second.
func rate(w work) float64 { return w.ops / w.wall.Seconds() }

func cpuSeconds(w work) float64 { return w.cpu.Seconds() }

func mallocsPerOp(w work) float64 { return w.mallocs / w.ops }

// machineShare returns the client's share of all processors of the machine, in percent.
func machineShare(w work) float64 {
	return 100 * w.cpu.Seconds() / (w.wall.Seconds() * float64(runtime.NumCPU()))
}

// inTurn calls the functions in rounds, every second round in reverse order, so that changes on the machine affect all
// of them.
func inTurn(rounds int, things ...func() error) error {
	for round := range rounds {
		for _, do := range things {
			if err := do(); err != nil {
				return fmt.Errorf("round %d: %w", round+1, err)
			}
		}
		slices.Reverse(things)
	}
	return nil
}

// into returns a function that measures, and appends the result to all.
func into[T any](all *[]T, measure func() (T, error)) func() error {
	return func() error {
		x, err := measure()
		*all = append(*all, x)
		return err
	}
}

// client is a client that works for a while.
type client = func(context.Context) (work, error)

// duel holds the rounds of two clients that do the same work.
type duel struct{ ours, theirs []work }

// interleaved has both clients work in every round.
func interleaved(ctx context.Context, rounds int, ours, theirs client) (d duel, err error) {
	busy := func(c client) func() (work, error) {
		return func() (work, error) {
			w, err := c(ctx)
			if err == nil && (w.ops <= 0 || w.wall <= 0 || w.cpu <= 0) {
				err = fmt.Errorf("a client that did nothing: %+v", w)
			}
			return w, err
		}
	}
	return d, inTurn(rounds, into(&d.ours, busy(ours)), into(&d.theirs, busy(theirs)))
}

// ratios returns the ratio of a figure, ours to theirs, for each round.
func (d duel) ratios(figure func(work) float64) []float64 {
	return ratios(of(d.ours, figure), of(d.theirs, figure))
}

// of returns a figure for every round.
func of(all []work, figure func(work) float64) []float64 {
	values := make([]float64, len(all))
	for i, w := range all {
		values[i] = figure(w)
	}
	return values
}

func ratios(a, b []float64) []float64 {
	all := slices.Clone(a)
	for i := range all {
		all[i] /= b[i]
	}
	return all
}

// middle returns the median. For an even number of values, it is the mean of the two in the middle.
func middle(values []float64) float64 {
	s := slices.Sorted(slices.Values(values))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// spreadOf formats the median with the least and the greatest value.
func spreadOf(format string, values []float64) string {
	return fmt.Sprintf(format+" ("+format+" … "+format+")", middle(values), slices.Min(values), slices.Max(values))
}

// atMost returns a row for a figure whose median must not exceed a target.
func atMost(what, format string, values []float64, most float64) row {
	return row{what, spreadOf(format, values), fmt.Sprintf("≤ "+format, most), middle(values) <= most}
}

func atLeast(what, format string, values []float64, least float64) row {
	return row{what, spreadOf(format, values), fmt.Sprintf("≥ "+format, least), middle(values) >= least}
}

// told returns a row with figures for comparison only.
func told(what, format string, values ...[]float64) row {
	r := row{what: what, value: spreadOf(format, values[0])}
	for _, more := range values[1:] {
		r.value += " · " + spreadOf(format, more)
	}
	return r
}

// bySelf returns what do costs this process. Servers and clients that this process has started do not count.
func bySelf(do func() (ops float64, err error)) (work, error) {
	runtime.GC() // collects garbage of earlier work
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begin := time.Now()
	start, err := processorTime()
	if err != nil {
		return work{}, err
	}
	ops, err := do()
	wall := time.Since(begin)
	end, timeErr := processorTime()
	runtime.ReadMemStats(&after)
	return work{ops, end - start, wall, float64(after.Mallocs - before.Mallocs)}, errors.Join(err, timeErr)
}

// processorTime returns the processor time of this process so far.
func processorTime() (time.Duration, error) {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0, fmt.Errorf("getrusage: %w", err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}

// byCommand returns what a program costs from start to end, as the system counts it. The caller sets ops. out is the
// program's output.
func byCommand(cmd *exec.Cmd) (w work, out []byte, err error) {
	begin := time.Now()
	out, err = cmd.CombinedOutput()
	if err != nil {
		return w, out, fmt.Errorf("%s: %w: %s", cmd.Path, err, out)
	}
	w.wall = time.Since(begin)
	w.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return w, out, nil
}
