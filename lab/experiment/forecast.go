package experiment

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/dustin/go-humanize"
	"gonum.org/v1/gonum/stat/distuv"

	"filewise"
	"filewise/internal/say"
	"filewise/lab/verdict"
	"filewise/lab/verdict/stats"
)

// Forecast is the resolution that a plan reaches within its budget, predicted from the noise of its trials.
type Forecast struct {
	// From is the first block with a forecast. If it is not 0, that block is not reached, and only Sentence is set.
	From   int     `json:"from_block,omitempty"`
	Noise  float64 `json:"noise_sd"` // standard deviation of a trial within its block, log scale
	DF     int     `json:"degrees_of_freedom"`
	Source string  `json:"source"` // of the noise: "5 blocks", "run 7"
	// Percent is the half width of the intervals after all blocks. Time is the duration of all blocks, from the start of
	// the run. Least and Most bound Percent, because the noise is only estimated.
	Percent float64       `json:"percent"`
	Least   float64       `json:"percent_least"`
	Most    float64       `json:"percent_most"`
	Time    time.Duration `json:"time_ns"`
	// Kept is the margin in percent that all blocks resolve with a chance of 80 %. Blocks and MarginTime are needed to
	// resolve the plan's margin with that chance. If Blocks is 0, it takes more than can be planned.
	Kept       float64       `json:"percent_kept"`
	Blocks     int           `json:"blocks_to_margin"`
	MarginTime time.Duration `json:"time_to_margin_ns"`
	Sentence   string        `json:"sentence"`
}

// A forecast needs leastFreedom degrees of freedom. Its range lies between the 5 % and the 95 % quantile of the noise.
// The upper end is stretched, because the last block's result is not certain either.
const (
	leastFreedom    = 8
	forecastTail    = 0.05
	forecastStretch = 1.2
)

// ForecastFrom returns the first block with a forecast for that many layouts.
func ForecastFrom(layouts int) int { return verdict.ForecastFrom(layouts) }

// OperationConfidence returns the confidence that each operation needs so that all of them hold together.
func (p Plan) OperationConfidence() float64 {
	return 1 - (1-p.Confidence)/float64(max(len(p.operations())-len(p.Estimated), 1))
}

// extensionShare is the ratio of the blocks of an extended run to the blocks of one plan for the same resolution. The
// intervals of an extended run are some 10 % wider.
const extensionShare = 1.2

// resume returns the command that takes the run to that many blocks, or "" if the run cannot be extended. RUN stands
// for the run's number, which the plan does not have.
func (s standing) resume(blocks int) string {
	if s.plan.JudgedBy() < extendedFrom || s.plan.AsPublished != nil || s.plan.Budget == 0 || s.schedule.TrialTime == 0 {
		return ""
	}
	n := int(math.Ceil(extensionShare * float64(blocks)))
	if n > verdict.MostBlocks(s.plan.JudgedBy()) {
		return ""
	}
	took := s.pilotTime() + s.furtherBuilds(s.plan.Builds) + time.Duration(n*len(s.plan.Layouts))*s.schedule.TrialTime
	return "filewise resume " + RunPlace + " --budget " + asOption(max(took, s.plan.Budget+time.Minute))
}

// RunPlace is the placeholder in sentences for a run's number. A run gets its number only when it is stored.
const RunPlace = "RUN"

// ForecastBy forecasts from the noise and its degrees of freedom, the time of a trial and the time already spent. It
// uses the boundaries of rules 3, at the level of all operations. It returns false if too little is known.
func (p Plan) ForecastBy(noise float64, df int, source string, s Schedule, spent time.Duration) (Forecast, bool) {
	layouts := len(p.Layouts)
	if layouts < 2 || df < leastFreedom || !(noise > 0) || math.IsInf(noise, 0) || s.TrialTime <= 0 || s.MaxBlocks < 2 {
		return Forecast{}, false
	}
	f := Forecast{Noise: noise, DF: df, Source: source}
	level := p.OperationConfidence()
	half, err := verdict.HalfWidth(noise, layouts, s.MaxBlocks, level)
	kept, failed := verdict.MarginKept(noise, layouts, s.MaxBlocks, level)
	if err != nil || failed != nil {
		return Forecast{}, false
	}
	f.Kept = 100 * math.Expm1(kept)
	takes := func(n int) time.Duration { return spent + time.Duration(n*layouts)*s.TrialTime }
	chi := distuv.ChiSquared{K: float64(df)}
	f.Percent, f.Time = 100*math.Expm1(half), takes(s.MaxBlocks)
	f.Least = 100 * math.Expm1(half*math.Sqrt(float64(df)/chi.Quantile(1-forecastTail)))
	f.Most = 100 * math.Expm1(forecastStretch*half*math.Sqrt(float64(df)/chi.Quantile(forecastTail)))
	if f.Blocks, err = verdict.BlocksToTell(noise, layouts, level, p.MarginLog()); err == nil && f.Blocks > 0 {
		f.MarginTime = takes(f.Blocks)
	}
	f.Sentence = f.words(p.Margin)
	return f, true
}

// halfWidth returns half the width of Student's interval for the difference of two layouts after n blocks, on the log
// scale, with Bonferroni's correction for that many comparisons. It compares designs, not layouts.
func (p Plan) halfWidth(noise float64, n, comparisons int) float64 {
	return stats.TQuantile(1-(1-p.Confidence)/float64(2*comparisons), float64(n-1)) * noise * math.Sqrt(2/float64(n))
}

func (f Forecast) words(margin float64) string {
	by := "Forecast, from the noise of " + f.Source
	within := fmt.Sprintf("intervals of ±%.2g to ±%.2g %% after %s", f.Least, f.Most, about(f.Time))
	switch {
	case f.Least >= 100:
		within = "only intervals wider than a factor of two after " + about(f.Time)
	case f.Most >= 100:
		within = fmt.Sprintf("intervals of ±%.2g %% to more than a factor of two after %s", f.Least, about(f.Time))
	}
	within += ", or an earlier decision"
	switch {
	case f.Most <= margin:
		return fmt.Sprintf("%s: %s.", by, within)
	case f.Kept < 100:
		within += fmt.Sprintf("; with a chance of 80 %% it resolves ±%.2g %%", f.Kept)
	}
	if f.Blocks == 0 {
		return fmt.Sprintf("%s: %s; ±%g %% is out of reach.", by, within, margin)
	}
	return fmt.Sprintf("%s: %s; ±%g %% takes about %s (%s blocks).", by, within, margin, about(f.MarginTime),
		humanize.Comma(int64(f.Blocks)))
}

// about formats a duration to come, rounded as people say it.
func about(d time.Duration) string {
	switch {
	case d >= 2*time.Hour:
		return fmt.Sprintf("%.2g h", d.Hours())
	case d >= 2*time.Minute:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.0f s", d.Seconds())
}

// forecast returns the forecast for the noisiest operation. It returns nil before the pilots are done and if the noise is
// not known.
func (s standing) forecast() *Forecast {
	if !s.plan.Interleaved || s.schedule.Rounds == 0 || len(s.results) == 0 {
		return nil
	}
	if _, more := s.nextPilot(); more {
		return nil
	}
	blocks, layouts := s.results[0].Blocks, len(s.plan.Layouts)
	if from := ForecastFrom(layouts); blocks < from {
		text := fmt.Sprintf("What the budget can resolve is forecast from block %d on", from)
		if n := s.schedule.MaxBlocks; n < from {
			text += fmt.Sprintf("; %d are planned", n)
		}
		return &Forecast{From: from, Sentence: text + "."}
	}
	noise := 0.0
	for _, r := range s.plan.judged(s.results) {
		if sd, ok := r.Noise(); ok {
			noise = max(noise, sd)
		}
	}
	f, ok := s.plan.ForecastBy(noise, (blocks-1)*(layouts-1), filewise.Counted(blocks, "block"), s.schedule,
		s.pilotTime()+s.furtherBuilds(s.plan.Builds))
	if !ok {
		return nil
	}
	return &f
}

// pilotNoise estimates the noise of a trial from the slices of the pilots. It is the relative standard deviation of a
// mean over the measured time, averaged over layouts; autocorrelation is included (see correlationTime). It lacks slow
// drift, which pilots are too short to show and which turns cancel.
func (h history) pilotNoise(measured time.Duration) float64 {
	sum, n := 0.0, 0
	for _, l := range h.plan.Layouts {
		t := h.tries[cellKey{0, l.Name}].done
		if t == nil || len(t.Measures) == 0 || measured == 0 {
			continue
		}
		m := t.Measures[0]
		mean, variance, ok := moments(steadySlices(m))
		if !ok {
			continue
		}
		sum += variance / (mean * mean) * correlationTime(m).Seconds() / measured.Seconds()
		n++
	}
	if n == 0 {
		return 0
	}
	return math.Sqrt(sum / float64(n))
}

// hopeless returns why a verdict needs more than the budget, as soon as the first pilot shows it. It returns "" if the
// budget may suffice, or nothing shows it yet. The need must exceed the budget by half, because the other pilots may
// take less.
func (s standing) hopeless() string {
	const beyond = 1.5
	p := s.plan
	if !p.Interleaved || p.Budget == 0 || s.schedule.TrialTime == 0 {
		return ""
	}
	needed := s.elapsed + time.Duration(verdict.FirstAnalysis*len(p.Layouts))*s.schedule.TrialTime +
		s.furtherBuilds(min(p.Builds, verdict.FirstAnalysis))
	if float64(needed) < beyond*float64(p.mostBudget()) {
		return ""
	}
	first := p.FirstClaim()
	takes := s.elapsed + time.Duration(first*len(p.Layouts))*s.schedule.TrialTime + s.furtherBuilds(min(p.Builds, first))
	return fmt.Sprintf("the %s budget is too short: judging by the first pilot, the %d blocks that an interval needs take about %s."+
		verdict.ToDo+"set %s, or use fewer layouts or less work", say.Human(p.mostBudget()), first, about(takes), moreBudget(takes))
}

// OperationSample holds the results of a plan's complete blocks in one operation. It is compared with another
// experiment's.
type OperationSample struct {
	Operation string
	Config    verdict.Config // how they are judged
	verdict.Sample
	// P99 is the same table, with the inverse of each trial's p99 instead of throughput. Trials with too few operations
	// have no value.
	P99     verdict.Table
	Latency []LayoutLatency
}

// Samples returns the complete blocks of the plan's trials for each operation that is judged.
func (p Plan) Samples(done []filewise.Trial) ([]OperationSample, error) {
	s := p.standing(done)
	if s.err != nil {
		return nil, fmt.Errorf("judge the trials: %w", s.err)
	}
	var out []OperationSample
	for f, operation := range p.operations() {
		if slices.Contains(p.Estimated, operation) {
			continue
		}
		sample := verdict.Sample{Arms: s.results[f].Arms}
		for b := range s.results[f].Blocks {
			sample.Table = append(sample.Table, s.row(b+1, operation))
		}
		p99, _, err := s.history.p99s(s.results[f].Blocks, operation)
		if err != nil {
			return nil, err
		}
		latency, err := s.layoutLatencies(s.results[f], operation)
		if err != nil {
			return nil, err
		}
		out = append(out, OperationSample{operation, s.results[f].Config, sample, p99, latency})
	}
	return out, nil
}
