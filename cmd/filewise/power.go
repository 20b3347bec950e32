package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"filewise"
	"filewise/experiment"
	"filewise/verdict"
)

// powerPercents are the differences of which power tells what they take.
var powerPercents = []float64{1, 3, 5, 10}

// powerBlocks of an A/A measurement tell the noise to a third or so.
const powerBlocks = 10

// powerFlags say where the noise comes from.
type powerFlags struct {
	wanted bool
	from   string
	noise  float64
}

func (f *powerFlags) register(fs *pflag.FlagSet) {
	fs.BoolVar(&f.wanted, "power", false, fmt.Sprintf("say how many blocks, and how long, it takes to see 1, 3, 5 and 10 %%: measures the baseline twice in at most %d blocks for that, unless --noise-from or --noise tells the noise", powerBlocks))
	fs.StringVar(&f.from, "noise-from", "", "with --power: the noise and the time of a trial are those of this stored `run`")
	fs.Float64Var(&f.noise, "noise", 0, "with --power: a trial's noise is this `percent` (coefficient of variation within a block)")
}

// check refuses what does not go together.
func (f *powerFlags) check(cmd *cobra.Command) error {
	set := cmd.Flags().Changed
	switch {
	case !f.wanted && (set("noise-from") || set("noise")):
		return filewise.Errorf(filewise.CodeUsage, "add --power", "--noise-from and --noise are for --power")
	case set("noise-from") && set("noise"):
		return filewise.Errorf(filewise.CodeUsage, "give one of them", "--noise-from and --noise at once")
	case set("noise") && !(f.noise > 0 && f.noise <= 100):
		return badValue("noise", f.noise, "give a percentage above 0 and up to 100, such as 5")
	}
	return nil
}

// noise is what a machine does to trials of one layout.
type noise struct {
	SD     float64       `json:"sd"` // of one trial within its block, on the log scale
	Trial  time.Duration `json:"trial_ns"`
	Source string        `json:"source"`
	Trials int           `json:"trials"` // that tell it; 0: it was given
}

// powerReport is what differences can be seen, and what that takes.
type powerReport struct {
	Noise      noise       `json:"noise"`
	Layouts    int         `json:"layouts"`
	Confidence float64     `json:"confidence"`
	Chance     float64     `json:"chance"` // of seeing the difference
	Rows       []powerNeed `json:"differences"`
}

// powerNeed is what one size of difference takes. 0 blocks: more than can be
// planned; 0 time: not known.
type powerNeed struct {
	Percent float64       `json:"percent"`
	Blocks  int           `json:"blocks"`
	Time    time.Duration `json:"time_ns"`
}

// powerOf says what differences can be seen with this noise: for plan --power, and
// for doctor.
func powerOf(n noise, layouts int, confidence float64) (powerReport, error) {
	out := powerReport{Noise: n, Layouts: layouts, Confidence: confidence, Chance: verdict.Power}
	effects := make([]float64, len(powerPercents))
	for i, p := range powerPercents {
		effects[i] = math.Log1p(p / 100)
	}
	needed, err := verdict.BlocksToSee(n.SD, layouts, confidence, effects)
	if err != nil {
		return out, filewise.Errorf(filewise.CodeUsage, "compare fewer layouts", "power: %w", err)
	}
	for i, need := range needed {
		out.Rows = append(out.Rows, powerNeed{powerPercents[i], need.Blocks, time.Duration(need.Blocks*layouts) * n.Trial})
	}
	return out, nil
}

// planPower prints what the plan can see.
func (a *app) planPower(cmd *cobra.Command, f *planFlags, power *powerFlags, scenario string) error {
	p, err := f.plan(cmd, scenario)
	if err != nil {
		return err
	}
	n, err := a.noiseFor(cmd.Context(), power, p, f.access(a, p.Target))
	if err != nil {
		return err
	}
	out, err := powerOf(n, len(p.Layouts), p.Confidence)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(out)
	}
	return a.printPower(out)
}

// noiseFor finds the noise where the flags say.
func (a *app) noiseFor(ctx context.Context, f *powerFlags, p experiment.Plan, login access) (noise, error) {
	switch {
	case f.noise > 0:
		cv := f.noise / 100 // of a lognormal distribution
		return noise{SD: math.Sqrt(math.Log1p(cv * cv)), Trial: p.Window, Source: "given"}, nil
	case f.from != "":
		s, err := a.load(ctx, f.from)
		if err != nil {
			return noise{}, err
		}
		return noiseOf(s.run.Plan, s.trials, fmt.Sprintf("run %d", s.run.ID))
	}
	return a.measureNoise(ctx, p, login)
}

// noiseOf is the noise in a plan's trials.
func noiseOf(p experiment.Plan, trials []filewise.Trial, source string) (noise, error) {
	j, err := p.Judge(trials)
	if err != nil {
		return noise{}, err
	}
	sd, ok := j.Result.Noise()
	if !ok {
		return noise{}, filewise.Errorf(filewise.CodeUsage, "take a run with more blocks, or leave it to --power to measure",
			"%s has too few trials to tell the noise: %d in %d blocks", source, j.Result.Trials, j.Result.Blocks)
	}
	return noise{SD: sd, Trial: j.Schedule.TrialTime, Source: source, Trials: j.Result.Trials}, nil
}

// measureNoise measures the plan's baseline twice in every block, and stores
// nothing.
func (a *app) measureNoise(ctx context.Context, p experiment.Plan, login access) (n noise, err error) {
	p = aaOnly(p)
	r, err := setUp(ctx, p, login)
	if err != nil {
		return noise{}, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	w, err := newWatch(p, r, func(experiment.Event) {})
	if err != nil {
		return noise{}, err
	}
	note := &lineWriter{w: a.stderr}
	note.printf("filewise: measuring %s twice in at most %d blocks to tell the noise; nothing is stored\n", p.Baseline, p.MaxBlocks)
	runner := experiment.Runner{Plan: p, Workload: r.workload, Server: r.server, Clock: filewise.RealClock{},
		Guard: w.guard, Await: w.await, Ended: w.ended, Calibrate: r.calibrator(p),
		Record: a.recorder(func(context.Context, filewise.Trial) error { return nil }, w, nil)}
	trials, d, err := runner.Run(ctx, nil)
	if err != nil {
		return noise{}, err
	}
	if d.Ending == experiment.Broken {
		return noise{}, filewise.Errorf(filewise.CodeTrials, "see why with filewise run", "the noise could not be measured: %s", d.Why)
	}
	return noiseOf(p, trials, "an A/A measurement just now")
}

// aaOnly is the plan with nothing but its baseline, twice. The margin is too small
// to be resolved, so that all blocks are measured that the budget allows.
func aaOnly(p experiment.Plan) experiment.Plan {
	for _, l := range p.Layouts {
		if l.Name == p.Baseline {
			again := l
			again.Name += " again"
			p.Layouts = []filewise.Layout{l, again}
			break
		}
	}
	const tiny = 0.001 // percent
	p.AA, p.Margin, p.Goal, p.MaxBlocks = "", tiny, verdict.GoalVerdicts, powerBlocks
	return p
}

func (a *app) printPower(r powerReport) error {
	w := &lineWriter{w: a.stdout}
	w.printf("Noise of a trial within its block: %.2g %% (%s", 100*math.Sqrt(math.Expm1(r.Noise.SD*r.Noise.SD)), r.Noise.Source)
	if r.Noise.Trials > 0 {
		w.printf(", %d trials", r.Noise.Trials)
	}
	w.printf(")\n\nWith %d layouts a difference from the baseline is seen with a chance of %.0f %%, at %s %% confidence:\n\n",
		r.Layouts, 100*r.Chance, strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", 100*r.Confidence), "0"), "."))
	w.printf("  difference  blocks  trials  time\n")
	for _, row := range r.Rows {
		if row.Blocks == 0 {
			w.printf("  %8.0f %%  more than can be planned: lengthen the trials\n", row.Percent)
			continue
		}
		took := "not known"
		if row.Time > 0 {
			took = "about " + row.Time.Round(time.Second).String()
		}
		w.printf("  %8.0f %%  %6d  %6d  %s\n", row.Percent, row.Blocks, row.Blocks*r.Layouts, took)
	}
	w.printf("\nAt most: layouts that fall behind are dropped, and large differences are seen sooner.\n")
	if r.Noise.Trials == 0 {
		w.printf("The time is that of measured windows alone; building and warming up come on top.\n")
	}
	return w.err
}
