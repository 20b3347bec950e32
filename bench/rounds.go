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
)

// work is what a client did, and what it took.
type work struct {
	ops  float64       // transactions, rows
	cpu  time.Duration // processor time of the client alone, user and system
	wall time.Duration
}

// cpuPerOp is the client's processor time per operation, in microseconds.
func cpuPerOp(w work) float64 { return float64(w.cpu.Nanoseconds()) / 1e3 / w.ops }

// rate is operations a second.
func rate(w work) float64 { return w.ops / w.wall.Seconds() }

// machineShare is what the client took of all processors of the machine, in percent.
func machineShare(w work) float64 {
	return 100 * w.cpu.Seconds() / (w.wall.Seconds() * float64(runtime.NumCPU()))
}

// duel are the rounds of two clients that do the same on one server.
type duel struct{ ours, theirs []work }

// interleaved has both clients work in every round, in turn the one and the other
// first, so that what changes on the machine meanwhile meets both.
func interleaved(ctx context.Context, rounds int, ours, theirs func(context.Context) (work, error)) (duel, error) {
	var d duel
	for round := range rounds {
		for half := range 2 {
			client, to := ours, &d.ours
			if (round+half)%2 == 1 {
				client, to = theirs, &d.theirs
			}
			w, err := client(ctx)
			if err == nil && (w.ops <= 0 || w.wall <= 0 || w.cpu <= 0) {
				err = fmt.Errorf("a client that did nothing: %+v", w)
			}
			if err != nil {
				return d, fmt.Errorf("round %d: %w", round+1, err)
			}
			*to = append(*to, w)
		}
	}
	return d, nil
}

// of is a figure of every round.
func of(all []work, figure func(work) float64) []float64 {
	values := make([]float64, len(all))
	for i, w := range all {
		values[i] = figure(w)
	}
	return values
}

// ratios are those of a figure within each round, ours to theirs.
func (d duel) ratios(figure func(work) float64) []float64 {
	values := of(d.ours, figure)
	for i, theirs := range of(d.theirs, figure) {
		values[i] /= theirs
	}
	return values
}

// middle is the median; of an even number the mean of the two in the middle.
func middle(values []float64) float64 {
	s := slices.Sorted(slices.Values(values))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// spreadOf is a median with the least and the most, each as the format says.
func spreadOf(format string, values []float64) string {
	return fmt.Sprintf(format+" ("+format+" … "+format+")", middle(values), slices.Min(values), slices.Max(values))
}

// bySelf is what this process takes to do something; servers and clients that it
// started are not counted.
func bySelf(do func() (ops float64, err error)) (work, error) {
	runtime.GC() // that of what was before
	begin := time.Now()
	start, err := processorTime()
	if err != nil {
		return work{}, err
	}
	ops, err := do()
	wall := time.Since(begin)
	end, timeErr := processorTime()
	return work{ops, end - start, wall}, errors.Join(err, timeErr)
}

// byCommand is what a program takes from its start to its end, as the system
// counts when it has ended. Ops is left to the caller; out is all that it wrote.
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
