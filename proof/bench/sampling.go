//go:build linux

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"filewise"
	"filewise/lab/drive"
	"filewise/lab/experiment"
	"filewise/lab/probe"
	"filewise/lab/verdict/stats"
)

// The targets for sampling: in percent of one core, and of the throughput.
const (
	maxSampling = 1.0
	maxSlower   = 0.03
)

// samplingBench measures what sampling a build costs while the build is measured.
type samplingBench struct {
	engine filewise.Engine
	idle   int // pairs of periods in which nothing else is done
	pairs  int // pairs of periods under load
	period time.Duration
	dir    string
}

// runSampling is the command sampling.
func runSampling(ctx context.Context, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("bench sampling", flag.ContinueOnError)
	names := flags.String("engines", "postgres,mariadb,sqlite",
		"`engines` to measure, of "+strings.Join(slices.Sorted(maps.Keys(engines)), ", "))
	idle := flags.Int("idle", 8, "`pairs` of periods, looked at and not, of sessions that do nothing")
	pairs := flags.Int("pairs", 40, "`pairs` of periods under load (0 measures CPU time alone)")
	period := flags.Duration("period", time.Second, "`time` of a period")
	dir := flags.String("dir", ".", "`directory` on the storage in question, where a scratch directory is made")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *idle < 2 || *pairs < 2*inBlock && *pairs != 0 || *period < 300*time.Millisecond || flags.NArg() > 0 {
		return fmt.Errorf("at least 2 pairs idle and %d (or none) under load, of 300 ms, and no further arguments", 2*inBlock)
	}
	var rows []row
	for name := range strings.SplitSeq(*names, ",") {
		engine, ok := engines[name]
		if !ok {
			return fmt.Errorf("there is no engine %q here", name)
		}
		found, err := samplingBench{engine, *idle, *pairs, *period, *dir}.run(ctx)
		if err != nil {
			return errors.Join(fmt.Errorf("%s: %w", name, err), print(stdout, rows))
		}
		rows = append(rows, found...)
	}
	return print(stdout, rows)
}

func (b samplingBench) run(ctx context.Context) (rows []row, err error) {
	// Work that is not synced waits for processors alone, and sampling takes some of them.
	build, err := buildInserts(ctx, b.engine, b.dir, filewise.DurabilityOff, 100)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, build.Close()) }()
	sessions, err := experiment.Connect(ctx, build.db, 0, build.workload.Program().Connections())
	defer func() { err = errors.Join(err, experiment.CloseAll(sessions)) }()
	if err != nil {
		return nil, err
	}
	if rows, err = b.costs(ctx, build.set); err != nil || b.pairs == 0 {
		return rows, err
	}
	slower, err := b.slower(ctx, build, sessions)
	return append(rows, slower), err
}

// watching returns a function that starts the samplers at the pace for a window of this length (0: a long one). It
// returns a function that ends them.
func watching(window time.Duration) func(context.Context, *probe.Set) func() {
	return func(ctx context.Context, set *probe.Set) func() { return set.Watch(ctx, window) }
}

// displayed reads all probes once a second, as the display of a running trial does.
func displayed(ctx context.Context, set *probe.Set) func() {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			set.Read(context.WithoutCancel(ctx))
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
			}
		}
	}()
	return func() { cancel(); <-done }
}

// costs measures the processor time of sampling, Filewise's and the server's, while the sessions do nothing.
func (b samplingBench) costs(ctx context.Context, set *probe.Set) ([]row, error) {
	var rows []row
	for _, x := range []struct {
		what  string
		start func(context.Context, *probe.Set) func()
	}{
		{"looking at waits", watching(0)},
		{fmt.Sprintf("looking at waits, in windows of %v", b.period), watching(b.period)},
		{"a display that reads all once a second", displayed},
	} {
		self, server, err := b.cost(ctx, func() func() { return x.start(ctx, set) })
		if err != nil {
			return nil, err
		}
		all := self + server
		rows = append(rows, row{fmt.Sprintf("%s: %s, of one core", b.engine.Name(), x.what),
			fmt.Sprintf("%.2f %% (Filewise %.2f, server %.2f)", all, self, server), fmt.Sprintf("≤ %.0f %%", maxSampling), all <= maxSampling})
	}
	return rows, nil
}

// cost returns the difference in processor time between sampling and not sampling, in percent of one core. The server's
// part is of all processes that this process has started.
func (b samplingBench) cost(ctx context.Context, start func() func()) (self, server float64, err error) {
	var selves, servers [2][]float64 // with sampling, without
	err = b.periods(ctx, b.idle, start, func(how int, wall time.Duration, use func() error) error {
		before, err := processorTime()
		serverBefore, err2 := childrenTime()
		if err := errors.Join(err, err2, use()); err != nil {
			return err
		}
		after, err := processorTime()
		serverAfter, err2 := childrenTime()
		selves[how] = append(selves[how], float64(after-before)/float64(wall))
		servers[how] = append(servers[how], float64(serverAfter-serverBefore)/float64(wall))
		return errors.Join(err, err2)
	})
	if err != nil {
		return 0, 0, err
	}
	return 100 * (middle(selves[0]) - middle(selves[1])), 100 * (middle(servers[0]) - middle(servers[1])), nil
}

// periods measures pairs of periods, one with sampling and one without, with alternating order.
func (b samplingBench) periods(ctx context.Context, pairs int, start func() func(),
	measure func(how int, wall time.Duration, use func() error) error) error {
	for pair := range pairs {
		for half := range 2 {
			how, stop := (pair+half)%2, func() {}
			if how == 0 {
				stop = start()
			}
			err := measure(how, b.period, func() error {
				select {
				case <-time.After(b.period):
					return nil
				case <-ctx.Done():
					return context.Cause(ctx)
				}
			})
			stop()
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// inBlock is the number of pairs in a block, since a checkpoint may stop all work for a period.
const inBlock = 4

// blocks returns the means of blocks of periods.
func blocks(rates []float64) (means []float64) {
	for block := range slices.Chunk(rates, inBlock) {
		sum := 0.0
		for _, r := range block {
			sum += r
		}
		means = append(means, sum/float64(len(block)))
	}
	return means
}

// slower compares the throughput with and without sampling, in periods of one load.
func (b samplingBench) slower(ctx context.Context, build *insertsBuild, sessions []filewise.Session) (row, error) {
	live, enough := new(drive.Live), make(chan struct{})
	ended := make(chan error, 1)
	chunk := build.db.Chunk
	if chunk == 0 {
		chunk = 100 // calls shorter than a period by far
	}
	most := time.Duration(2*b.pairs)*2*b.period + time.Minute
	go func() {
		_, err := drive.Run(ctx, drive.Load{Sessions: sessions, Window: most, WarmUp: time.Second, Chunk: chunk,
			Multiple: int64(build.workload.Program().First().CommitEvery), Live: live,
			Retry: build.workload.Program().Retry, Until: enough})
		ended <- err
	}()
	for live.Phase() != drive.PhaseMeasure { // waits for the end of its warm-up
		select {
		case err := <-ended:
			return row{}, fmt.Errorf("the load ended before its window: %w", err)
		case <-time.After(10 * time.Millisecond):
		}
	}
	var rates [2][]float64
	err := b.periods(ctx, b.pairs, func() func() {
		ends := []func(){watching(b.period)(ctx, build.set), displayed(ctx, build.set)}
		return func() { ends[0](); ends[1]() }
	}, func(how int, _ time.Duration, use func() error) error {
		before, start := live.Operations(), time.Now()
		err := use()
		rates[how] = append(rates[how], float64(live.Operations()-before)/time.Since(start).Seconds())
		return err
	})
	close(enough)
	if err := errors.Join(err, <-ended); err != nil {
		return row{}, err
	}
	t, err := stats.PairedLogT(blocks(rates[1]), blocks(rates[0]))
	if err != nil {
		return row{}, err
	}
	ci := t.CI(0.95)
	ratio, lo, hi := math.Exp(t.Effect), math.Exp(ci.Lo), math.Exp(ci.Hi)
	return row{fmt.Sprintf("%s: throughput, looked at to not (%.0f rows a second)", b.engine.Name(), middle(rates[1])),
		fmt.Sprintf("%.3f (95 %%: %.3f … %.3f, %d blocks)", ratio, lo, hi, t.N), fmt.Sprintf("≥ %.2f", 1-maxSlower), lo >= 1-maxSlower}, nil
}
