package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"filewise"
	"filewise/run"
	"filewise/run/plan"
	"filewise/run/preview"
)

// powerFlags names the source of the noise.
type powerFlags struct {
	wanted bool
	from   string
	noise  float64
}

func (f *powerFlags) register(fs *pflag.FlagSet) {
	fs.BoolVar(&f.wanted, "power", false, fmt.Sprintf("report the blocks and time to see 1, 3, 5 and 10 %%; without --noise-from or "+
		"--noise, measure the baseline twice, in at most %d blocks", preview.Blocks))
	fs.StringVar(&f.from, "noise-from", "", "with --power: take a trial's noise and time from this stored `run`")
	fs.Float64Var(&f.noise, "noise", 0, "with --power: a trial's noise in `percent` (coefficient of variation within a block)")
}

// check returns an error if flags contradict each other.
func (f *powerFlags) check(cmd *cobra.Command) error {
	set := cmd.Flags().Changed
	switch {
	case !f.wanted && (set("noise-from") || set("noise")):
		return filewise.Errorf(filewise.CodeUsage, "add --power", "--noise-from and --noise are for --power")
	case set("noise-from") && set("noise"):
		return filewise.Errorf(filewise.CodeUsage, "give one of them", "--noise-from and --noise at once")
	case set("noise") && !(f.noise > 0 && f.noise <= 100):
		return plan.OutOfRange("noise", f.noise, "give a percentage above 0 and up to 100, such as 5")
	}
	return nil
}

// planPower prints which differences the plan can detect.
func (a *app) planPower(cmd *cobra.Command, o *plan.Options, power *powerFlags) error {
	p, err := registry().Make(o)
	if err != nil {
		return err
	}
	n, err := a.noiseFor(cmd.Context(), power, p)
	if err != nil {
		return err
	}
	out, err := preview.Sees(n, len(p.Layouts), p.OperationConfidence())
	if err != nil {
		return err
	}
	return a.print(out, func(w *lineWriter) { w.printf("%s", out.Text()) })
}

// noiseFor returns the noise from the source that the flags name.
func (a *app) noiseFor(ctx context.Context, f *powerFlags, made plan.Made) (preview.Noise, error) {
	switch {
	case f.noise > 0:
		return preview.Given(f.noise, made.Window), nil
	case f.from != "":
		s, err := a.load(ctx, []string{f.from})
		if err != nil {
			return preview.Noise{}, err
		}
		return preview.NoiseOf(s.Plan, s.Trials, fmt.Sprintf("run %d", s.ID))
	}
	return a.measureNoise(ctx, made, &made.Options.TargetOptions)
}

// measureNoise measures the plan's baseline twice in every block. It stores nothing.
func (a *app) measureNoise(ctx context.Context, made plan.Made, o *plan.TargetOptions) (preview.Noise, error) {
	p := preview.Doubled(made.Plan)
	defer surviveBrokenPipe()()
	fmt.Fprintf(a.stderr, "filewise: measuring %s twice in at most %d blocks for the noise; nothing is stored\n", p.Baseline, p.MaxBlocks)
	return preview.Measure(ctx, p, run.Options{Engine: made.Engine, Clock: clock, Login: a.access(made.Target, made.Origin(), made.Secret, o)})
}
