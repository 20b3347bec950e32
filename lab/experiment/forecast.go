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

// Forecast is the resolution within a plan's budget, by the noise of its trials; or the point from which there is
// one.
type Forecast struct {
	// From is the block from which on there is a forecast, if it is not reached; then nothing but the sentence is
	// known. 0 means it is reached.
	From   int     `json:"from_block,omitempty"`
	Noise  float64 `json:"noise_sd"` // of a trial within its block, on the log scale
	DF     int     `json:"degrees_of_freedom"`
	Source string  `json:"source"` // of that: "5 blocks", "run 7"
	// Percent is the half width of the intervals after all blocks, and Time what those take
	// from the beginning of the run. Least and Most are its range: the noise is not known better.
	Percent float64       `json:"percent"`
	Least   float64       `json:"percent_least"`
	Most    float64       `json:"percent_most"`
	Time    time.Duration `json:"time_ns"`
	// Kept is the margin in percent that all blocks resolve with a chance of 80 %. Blocks and MarginTime are needed to
	// resolve the plan's margin with that chance. 0 blocks means more than can be planned.
	Kept       float64       `json:"percent_kept"`
	Blocks     int           `json:"blocks_to_margin"`
	MarginTime time.Duration `json:"time_to_margin_ns"`
	Sentence   string        `json:"sentence"`
}

// A forecast takes so many degrees of freedom. Its range lies between the 5 % and the 95 % quantile of the noise, the
// upper end stretched: the last block's result is not certain either.
const (
	leastFreedom    = 8
	forecastTail    = 0.05
	forecastStretch = 1.2
)

// ForecastFrom is the block from which on there is a forecast for so many layouts.
func ForecastFrom(layouts int) int { return verdict.ForecastFrom(layouts) }

// FamilyConfidence is the confidence of each family with which all of them hold together.
func (p Plan) FamilyConfidence() float64 {
	return 1 - (1-p.Confidence)/float64(max(len(p.families())-len(p.Estimated), 1))
}

// extensionShare is the factor by which an extended run takes more blocks than a plan for the same: its intervals are
// some 10 % wider.
const extensionShare = 1.2

// resume is the command that takes the run to so many blocks; empty if it cannot be extended. RUN
// stands for its number, which the plan does not have.
func (s standing) resume(blocks int) string {
	if s.plan.JudgedBy() < extendedFrom || s.plan.AsPublished != nil || s.plan.Budget == 0 || s.schedule.TrialTime == 0 {
		return ""
	}
	n := int(math.Ceil(extensionShare * float64(blocks)))
	if n > verdict.MostBlocks(s.plan.JudgedBy()) {
		return ""
	}
	took := s.pilotTime() + s.furtherBuilds(s.plan.Instances) + time.Duration(n*len(s.plan.Layouts))*s.schedule.TrialTime
	return "filewise resume " + RunPlace + " --budget " + asOption(max(took, s.plan.Budget+time.Minute))
}

// RunPlace stands in sentences for the number of a run, which has one only when it is stored.
const RunPlace = "RUN"

// ForecastBy forecasts by a noise with its degrees of freedom, and by the time of a trial and what has been spent: by
// the boundaries of rules 3, at the level of all families. False means too little is known.
func (p Plan) ForecastBy(noise float64, df int, source string, s Schedule, spent time.Duration) (Forecast, bool) {
	layouts := len(p.Layouts)
	if layouts < 2 || df < leastFreedom || !(noise > 0) || math.IsInf(noise, 0) || s.TrialTime <= 0 || s.MaxBlocks < 2 {
		return Forecast{}, false
	}
	f := Forecast{Noise: noise, DF: df, Source: source}
	level := p.FamilyConfidence()
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

// halfWidth returns half the width of Student's interval for the difference of two layouts after n blocks, with
// Bonferroni's correction over comparisons, on the log scale: for designs that are compared with each other.
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

// about rounds a time to come as people speak of it.
func about(d time.Duration) string {
	switch {
	case d >= 2*time.Hour:
		return fmt.Sprintf("%.2g h", d.Hours())
	case d >= 2*time.Minute:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.0f s", d.Seconds())
}

// forecast is nil before the pilots are done, and if the noise is not known. Of several families it takes the
// noisiest.
func (s standing) forecast() *Forecast {
	if !s.plan.Sessions || s.schedule.Rounds == 0 || len(s.results) == 0 {
		return nil
	}
	if _, more := s.nextPilot(); more {
		return nil
	}
	blocks, layouts := s.results[0].Blocks, len(s.plan.Layouts)
	if from := ForecastFrom(layouts); blocks < from {
		said := fmt.Sprintf("What the budget can resolve is forecast from block %d on", from)
		if n := s.schedule.MaxBlocks; n < from {
			said += fmt.Sprintf("; %d are planned", n)
		}
		return &Forecast{From: from, Sentence: said + "."}
	}
	noise := 0.0
	for _, r := range s.plan.judged(s.results) {
		if sd, ok := r.Noise(); ok {
			noise = max(noise, sd)
		}
	}
	f, ok := s.plan.ForecastBy(noise, (blocks-1)*(layouts-1), filewise.Counted(blocks, "block"), s.schedule,
		s.pilotTime()+s.furtherBuilds(s.plan.Instances))
	if !ok {
		return nil
	}
	return &f
}

// pilotNoise is the noise of a trial by the slices of the pilots: the standard deviation of
// a mean over as long a time, by their autocorrelation (see correlationTime), on average over
// layouts. It does not hold the drift that pilots are too short to show, which turns cancel.
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

// hopeless reports that a verdict needs more than the budget, as soon as the first pilot shows it. Empty means it
// does not, or nothing shows it yet. The others may take less, so that it has to be far beyond.
func (s standing) hopeless() string {
	const beyond = 1.5
	p := s.plan
	if !p.Sessions || p.Budget == 0 || s.schedule.TrialTime == 0 {
		return ""
	}
	needed := s.elapsed + time.Duration(verdict.FirstLook*len(p.Layouts))*s.schedule.TrialTime +
		s.furtherBuilds(min(p.Instances, verdict.FirstLook))
	if float64(needed) < beyond*float64(p.mostBudget()) {
		return ""
	}
	first := p.FirstClaim()
	takes := s.elapsed + time.Duration(first*len(p.Layouts))*s.schedule.TrialTime + s.furtherBuilds(min(p.Instances, first))
	return fmt.Sprintf("the %s budget is too short: by the first pilot the %d blocks that an interval needs take about %s."+
		verdict.ToDo+"set %s, or use fewer layouts or less work", say.Human(p.mostBudget()), first, about(takes), moreBudget(takes))
}

// FamilySample holds the results of a plan's complete blocks in one family of operations, for a comparison with
// another experiment's.
type FamilySample struct {
	Family string
	Config verdict.Config // by which they are judged
	verdict.Sample
	// P99 is the same table with the inverse of each trial's p99 in place of throughput;
	// trials with too few operations have none.
	P99     verdict.Table
	Latency []LayoutLatency
}

// Samples are the complete blocks of the plan's trials, family by family.
func (p Plan) Samples(done []filewise.Trial) ([]FamilySample, error) {
	s := p.standing(done)
	if s.err != nil {
		return nil, fmt.Errorf("judge the trials: %w", s.err)
	}
	var out []FamilySample
	for f, family := range p.families() {
		if slices.Contains(p.Estimated, family) {
			continue
		}
		sample := verdict.Sample{Arms: s.results[f].Arms}
		for b := range s.results[f].Blocks {
			sample.Table = append(sample.Table, s.row(b+1, family))
		}
		p99, _, err := s.history.p99s(s.results[f].Blocks, family)
		if err != nil {
			return nil, err
		}
		latency, err := s.layoutLatencies(s.results[f], family)
		if err != nil {
			return nil, err
		}
		out = append(out, FamilySample{family, s.results[f].Config, sample, p99, latency})
	}
	return out, nil
}
