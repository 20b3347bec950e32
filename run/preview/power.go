package preview

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"filewise"
	"filewise/lab/experiment"
	"filewise/lab/verdict"
	"filewise/run"
)

// percents lists the differences, in percent, whose cost is reported.
var percents = []float64{1, 3, 5, 10}

// Blocks is the number of blocks of an A/A measurement. It gives the noise within about a third.
const Blocks = 10

// Noise describes how much trials of one layout vary on a machine.
type Noise struct {
	SD     float64       `json:"sd"` // of a trial within its block, on the log scale
	Trial  time.Duration `json:"trial_ns"`
	Source string        `json:"source"`
	Trials int           `json:"trials"` // trials it comes from. 0 means the user gave the noise
}

// Power lists differences, and the cost of seeing each.
type Power struct {
	Noise      Noise   `json:"noise"`
	Layouts    int     `json:"layouts"`
	Confidence float64 `json:"confidence"`
	Chance     float64 `json:"chance"` // of seeing the difference
	Rows       []Need  `json:"differences"`
}

// Need is the cost of seeing a difference of one size. 0 blocks means more than can be planned; 0 time means not known.
type Need struct {
	Percent float64       `json:"percent"`
	Blocks  int           `json:"blocks"`
	Time    time.Duration `json:"time_ns"`
}

// Sees computes the cost of seeing differences with this noise, for plan --power and for doctor.
func Sees(n Noise, layouts int, confidence float64) (Power, error) {
	out := Power{Noise: n, Layouts: layouts, Confidence: confidence, Chance: verdict.Power}
	effects := filewise.Each(percents, func(p float64) float64 { return math.Log1p(p / 100) })
	needed, err := verdict.BlocksToSee(n.SD, layouts, confidence, effects)
	if err != nil {
		return out, filewise.Errorf(filewise.CodeUsage, "compare fewer layouts", "power: %w", err)
	}
	for i, need := range needed {
		out.Rows = append(out.Rows, Need{percents[i], need.Blocks, time.Duration(need.Blocks*layouts) * n.Trial})
	}
	return out, nil
}

// Given returns the noise for a given coefficient of variation in percent.
func Given(percent float64, trial time.Duration) Noise {
	cv := percent / 100 // of a lognormal distribution
	return Noise{SD: math.Sqrt(math.Log1p(cv * cv)), Trial: trial, Source: "given"}
}

// NoiseOf returns the noise of a plan's trials.
func NoiseOf(p experiment.Plan, trials []filewise.Trial, source string) (Noise, error) {
	j, err := p.Judge(trials)
	if err != nil {
		return Noise{}, err
	}
	sd, ok := 0.0, false
	for _, f := range j.Operations { // the noisiest operation counts, as in forecasts
		if x, known := f.Result.Noise(); known {
			sd, ok = max(sd, x), true
		}
	}
	if !ok {
		return Noise{}, filewise.Errorf(filewise.CodeUsage, "take a run with more blocks, or leave it to --power to measure",
			"%s has too few trials to estimate the noise: %d in %d blocks", source, j.First().Result.Trials, j.First().Result.Blocks)
	}
	return Noise{SD: sd, Trial: j.Schedule.TrialTime, Source: source, Trials: j.First().Result.Trials}, nil
}

// Doubled returns the plan with only its baseline, twice, as Measure measures it. The margin is too small to be
// resolved, so all blocks that the budget allows are measured.
func Doubled(p experiment.Plan) experiment.Plan {
	for _, l := range p.Layouts {
		if l.Name == p.Baseline {
			again := l
			again.Name += " again"
			p.Layouts = []filewise.Layout{l, again}
			break
		}
	}
	const tiny = 0.001 // percent
	p.AA, p.Margin, p.Goal, p.MaxBlocks = "", tiny, verdict.GoalVerdicts, Blocks
	return p
}

// Measure measures a doubled plan without storing it, and returns the noise.
func Measure(ctx context.Context, doubled experiment.Plan, o run.Options) (Noise, error) {
	trials, d, err := run.Unstored(ctx, doubled, o)
	if err != nil {
		return Noise{}, err
	}
	if d.Ending == experiment.Broken {
		return Noise{}, filewise.Errorf(filewise.CodeTrials, "see why with filewise run", "the noise could not be measured: %s", d.Why)
	}
	return NoiseOf(doubled, trials, "an A/A measurement just now")
}

// Text returns the noise and the cost of differences for people.
func (r Power) Text() string {
	w := &lines{}
	w.printf("Noise of a trial within its block: %.2g %% (%s", 100*math.Sqrt(math.Expm1(r.Noise.SD*r.Noise.SD)), r.Noise.Source)
	if r.Noise.Trials > 0 {
		w.printf(", %d trials", r.Noise.Trials)
	}
	w.printf(")\n\nWith %d layouts a difference from the baseline is seen, or excluded, with a chance of %.0f %%, at %s %% confidence:\n\n",
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
		w.printf("The time covers measured windows alone; building and warming up come on top.\n")
	}
	return w.String()
}
