//go:build linux

package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"time"

	"filewise"
	"filewise/engine/all"
	"filewise/internal/say"
	"filewise/lab/experiment"
	running "filewise/run"
	"filewise/run/plan"
	"filewise/run/preview"
)

// plantedShare is the share by which each operation on the other layout takes longer.
const plantedShare = 0.1

// runDecide is the command decide. It measures how often default runs decide about a planted difference, how often
// about none, and how much machine time sessions save.
func runDecide(ctx context.Context, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("bench decide", flag.ContinueOnError)
	names := flags.String("engines", "sqlite,postgres,mariadb", "`engines` to measure")
	repeats := flags.Int("repeats", 10, "default `runs` with a planted difference")
	same := flags.Int("aa", 20, "default `runs` without one")
	apart := flags.Int("apart", 10, "`runs` with a planted difference, one trial after the other")
	budget := flags.Duration("budget", 0, "`time` of a run (default the engine's)")
	dir := flags.String("dir", ".", "`directory` for the databases")
	if err := flags.Parse(args); err != nil {
		return err
	}
	for name := range strings.SplitSeq(*names, ",") {
		for _, kind := range []struct {
			decided
			runs int
		}{
			{decided{engine: name, sessions: true, planted: true}, *repeats},
			{decided{engine: name, sessions: true}, *same},
			{decided{engine: name}, *apart},
		} {
			for range kind.runs {
				if err := kind.run(ctx, *budget, *dir); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				fmt.Fprintln(stdout, kind.last)
				fmt.Fprint(stdout, kind.line()) // all results so far, since the whole takes hours
			}
		}
	}
	return nil
}

// decided holds the results of default runs of one kind.
type decided struct {
	engine            string
	sessions, planted bool

	last                       string // outcome of the last run
	runs, right, wrong, narrow int
	measuring, wall, toNarrow  time.Duration
}

// run runs one more default run, and counts its result.
func (d *decided) run(ctx context.Context, budget time.Duration, dir string) error {
	o := plan.Engines(all.Engines()).New()
	o.Scenario = "inserts"
	o.Engine, o.Interleaved = plan.Of(d.engine), plan.Of(d.sessions)
	o.Volumes = plan.Of([]plan.Pair{{Name: "here", Value: dir}})
	if budget > 0 {
		o.Budget = plan.Of(budget)
	}
	made, err := plan.Engines(all.Engines()).Make(o)
	if err != nil {
		return err
	}
	p := preview.Doubled(made.Plan)
	p.Margin, p.Goal, p.MaxBlocks = made.Margin, made.Goal, made.MaxBlocks
	options := running.Options{Engine: made.Engine}
	if d.planted {
		clock := newSlowClock()
		options.Engine, options.Clock = slowed{made.Engine, p.Baseline, clock}, clock
	}
	trials, end, err := running.Unstored(ctx, p, options)
	if err != nil {
		return err
	}
	return d.add(p, trials, end)
}

// add counts a run. With two equal layouts, a verdict of better or worse is a false decision. With a planted
// difference, so is a verdict that the slower layout is better or recommended.
func (d *decided) add(p experiment.Plan, trials []filewise.Trial, end experiment.Decision) error {
	j, err := p.Judge(trials)
	if err != nil {
		return err
	}
	d.runs, d.measuring, d.wall = d.runs+1, d.measuring+j.Measuring, d.wall+j.Elapsed
	for _, analysis := range j.First().Result.Analyses {
		if x := analysis.Estimates[1]; (x.Hi-x.Lo)/2 <= math.Log(1.05) {
			d.narrow++
			d.toNarrow += timeUntil(trials, analysis.Block)
			break
		}
	}
	analysis, ok := j.First().Result.Last()
	if d.last = "  " + end.Why; !ok {
		return nil
	}
	x := analysis.Estimates[1]
	d.last = fmt.Sprintf("  %s (%s)", say.Interval(x.Effect, x.Lo, x.Hi), end.Why)
	switch {
	case d.planted && (x.Lo > 0 || analysis.Recommended == 1), !d.planted && (x.Lo > 0 || x.Hi < 0 || x.DroppedAt > 0):
		d.wrong++
	case end.Ending == experiment.Decided && j.Elapsed <= 5*time.Minute:
		d.right++
	}
	return nil
}

// timeUntil returns the time of the trials up to the end of a block.
func timeUntil(trials []filewise.Trial, block int) (took time.Duration) {
	for _, t := range trials {
		if t.Cell.Block <= block {
			took += t.Elapsed
		}
	}
	return took
}

func (d *decided) line() string {
	how := map[bool]string{true: "sessions", false: "one by one"}[d.sessions]
	what := map[bool]string{true: "planted 10 %", false: "A/A"}[d.planted]
	narrow := "never"
	if d.narrow > 0 {
		narrow = fmt.Sprintf("%v in %d", (d.toNarrow / time.Duration(d.narrow)).Round(time.Second), d.narrow)
	}
	return fmt.Sprintf("%s, %s, %s: %d runs, %d decided within 5 min, %d wrong; ±5 %% after %s; measuring %.0f %% of %v\n", d.engine, how,
		what,
		d.runs, d.right, d.wrong, narrow, 100*d.measuring.Seconds()/max(d.wall.Seconds(), 1e-9), d.wall.Round(time.Second))
}

// slowed is an engine on which operations of all layouts but one take longer, by its clock.
type slowed struct {
	filewise.Engine
	but   string
	clock *slowClock
}

func (s slowed) Open(ctx context.Context, t filewise.Target) (filewise.Server, error) {
	server, err := s.Engine.Open(ctx, t)
	if err != nil {
		return nil, err
	}
	return slowedServer{server, s}, nil
}

type slowedServer struct {
	filewise.Server
	slowed slowed
}

func (s slowedServer) Build(ctx context.Context, l filewise.Layout, p filewise.Program) (*filewise.Database, error) {
	db, err := s.Server.Build(ctx, l, p)
	if err == nil {
		rate := 1.0
		if l.Name != s.slowed.but {
			rate = 1 + plantedShare
		}
		db.Build = slowedBuild{db.Build, s.slowed.clock, rate}
	}
	return db, err
}

type slowedBuild struct {
	filewise.Build
	clock *slowClock
	rate  float64
}

func (c slowedBuild) Connect(ctx context.Context, phase, worker int) (filewise.Session, error) {
	s, err := c.Build.Connect(ctx, phase, worker)
	if err != nil {
		return nil, err
	}
	return slowedSession{s, c}, nil
}

type slowedSession struct {
	filewise.Session
	by slowedBuild
}

func (s slowedSession) Do(ctx context.Context, first, n int64) (int64, error) {
	s.by.clock.run(s.by.rate)
	return s.Session.Do(ctx, first, n)
}

// slowClock runs at the rate of the current layout; only one layout works at a time. Sleeping in each operation would
// not plant a known difference, because connections that wait for each other would then wait less.
type slowClock struct {
	mu   sync.Mutex
	rate float64
	real time.Time // when the clock was last read
	now  time.Time // the clock's time then
}

func newSlowClock() *slowClock {
	now := time.Now()
	return &slowClock{rate: 1, real: now, now: now}
}

func (c *slowClock) run(rate float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read()
	c.rate = rate
}

func (c *slowClock) read() time.Time {
	now := time.Now()
	c.now = c.now.Add(time.Duration(c.rate * float64(now.Sub(c.real))))
	c.real = now
	return c.now
}

func (c *slowClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.read()
}

func (c *slowClock) Sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	d = time.Duration(float64(d) / c.rate)
	c.mu.Unlock()
	return filewise.RealClock{}.Sleep(ctx, d)
}
