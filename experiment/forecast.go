package experiment

import (
	"fmt"
	"math"
	"sort"
	"time"

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/internal/say"
	"filewise/verdict"
	"filewise/verdict/stats"
)

// Forecast is what a plan's budget can tell, by the noise of its trials.
type Forecast struct {
	Noise  float64 `json:"noise_sd"` // of a trial within its block, on the log scale
	Source string  `json:"source"`   // of that: "the pilots", "2 blocks", "run 7"
	// Percent is the half width of the intervals after all blocks, and Time what those take
	// from the beginning of the run.
	Percent float64       `json:"percent"`
	Time    time.Duration `json:"time_ns"`
	// Blocks and MarginTime are what it takes to the margin; 0 blocks: more than can be planned.
	Blocks     int           `json:"blocks_to_margin"`
	MarginTime time.Duration `json:"time_to_margin_ns"`
	Sentence   string        `json:"sentence"`
}

// forecastBlocks are the most that a forecast speaks of.
const forecastBlocks = 5000

// ForecastBy forecasts by a noise, and by the time of a trial and what has been spent.
// Half widths are those of Student's interval for the difference of two layouts with
// Bonferroni's correction over layouts, as at the last look: what a verdict may add for
// earlier looks is not in it.
func (p Plan) ForecastBy(noise float64, source string, s Schedule, spent time.Duration) (Forecast, bool) {
	layouts := len(p.Layouts)
	if layouts < 2 || !(noise > 0) || math.IsInf(noise, 0) || s.TrialTime <= 0 || s.MaxBlocks < 2 {
		return Forecast{}, false
	}
	f := Forecast{Noise: noise, Source: source}
	half := func(n int) float64 { return p.halfWidth(noise, n, layouts-1) }
	takes := func(n int) time.Duration { return spent + time.Duration(n*layouts)*s.TrialTime }
	f.Percent, f.Time = 100*math.Expm1(half(s.MaxBlocks)), takes(s.MaxBlocks)
	// Half widths fall with every block, so that a dozen quantiles find the first that fits.
	if n := 2 + sort.Search(forecastBlocks-1, func(i int) bool { return half(2+i) <= p.MarginLog() }); n <= forecastBlocks {
		f.Blocks, f.MarginTime = n, takes(n)
	}
	f.Sentence = f.words(p.Margin)
	return f, true
}

// halfWidth is that of ForecastBy after n blocks, on the log scale.
func (p Plan) halfWidth(noise float64, n, comparisons int) float64 {
	return stats.TQuantile(1-(1-p.Confidence)/float64(2*comparisons), float64(n-1)) * noise * math.Sqrt(2/float64(n))
}

func (f Forecast) words(margin float64) string {
	by := "By the noise of " + f.Source
	within := fmt.Sprintf("intervals of about ±%.2g %% after %s", f.Percent, about(f.Time))
	switch {
	case f.Percent >= 100:
		within = "only intervals wider than a factor of two after " + about(f.Time)
	case f.Source == thePilots:
		by += ", at best,"
	}
	switch {
	case f.Percent <= margin:
		return fmt.Sprintf("%s the run ends with %s, or as soon as it is decided.", by, within)
	case f.Blocks == 0:
		return fmt.Sprintf("%s it can give %s, unless it is decided before; ±%g %% is out of reach.", by, within, margin)
	}
	return fmt.Sprintf("%s it can give %s, unless it is decided before; ±%g %% would take about %s (%s blocks).", by, within, margin,
		about(f.MarginTime), humanize.Comma(int64(f.Blocks)))
}

// about is a time as one says it of what is to come.
func about(d time.Duration) string {
	switch {
	case d >= 2*time.Hour:
		return fmt.Sprintf("%.2g h", d.Hours())
	case d >= 2*time.Minute:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.0f s", d.Seconds())
}

// thePilots are a forecast's source before any session. They are too short to show the
// drift between sessions, so that what they promise is the best case.
const thePilots = "the pilots"

// forecast is nil before the pilots are done, and where nothing tells the noise.
func (s standing) forecast() *Forecast {
	if !s.plan.Sessions || s.schedule.Rounds == 0 {
		return nil
	}
	if _, more := s.nextPilot(); more {
		return nil
	}
	noise, source := s.pilotNoise(s.schedule.Turn*time.Duration(s.schedule.Rounds)), thePilots
	if sd, n := s.turnNoise(); n > 0 {
		noise, source = sd, filewise.Counted(n, "block")
	}
	if sd, ok := s.results[0].Noise(); ok {
		noise, source = sd, filewise.Counted(s.results[0].Blocks, "block")
	}
	f, ok := s.plan.ForecastBy(noise, source, s.schedule, s.pilotTime()+s.furtherBuilds(s.plan.Instances))
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

// turnNoise is the noise of a trial by the turns of the sessions that are complete, and how
// many those are: what is left of the log of each turn's work without its layout and its
// round.
func (h history) turnNoise() (float64, int) {
	square, freedom, rounds, sessions := 0.0, 0, 0, 0
	for b := 1; b <= h.lastBlock(); b++ {
		turns := h.turnsOf(b)
		if len(turns) < 2 || len(turns[0]) < 2 {
			continue
		}
		sessions++
		rounds = max(rounds, len(turns[0]))
		square += residual(turns)
		freedom += (len(turns) - 1) * (len(turns[0]) - 1)
	}
	if freedom == 0 {
		return 0, 0
	}
	return math.Sqrt(square / float64(freedom) / float64(rounds)), sessions
}

// turnsOf are the logs of the turns of a block's layouts that all have as many.
func (h history) turnsOf(block int) [][]float64 {
	var out [][]float64
	for _, l := range h.plan.Layouts {
		t := h.tries[cellKey{block, l.Name}].done
		if t == nil || len(t.Measures) == 0 {
			continue
		}
		var logs []float64
		for _, work := range t.Measures[0].Turns {
			if work <= 0 {
				return nil
			}
			logs = append(logs, math.Log(work))
		}
		if len(out) > 0 && len(out[0]) != len(logs) {
			return nil
		}
		out = append(out, logs)
	}
	return out
}

// residual is the sum of squares of a table without the means of its rows and columns.
func residual(table [][]float64) float64 {
	rows, columns, all := make([]float64, len(table)), make([]float64, len(table[0])), 0.0
	for i, row := range table {
		for j, x := range row {
			rows[i] += x / float64(len(row))
			columns[j] += x / float64(len(table))
			all += x / float64(len(row)*len(table))
		}
	}
	sum := 0.0
	for i, row := range table {
		for j, x := range row {
			r := x - rows[i] - columns[j] + all
			sum += r * r
		}
	}
	return sum
}

// hopeless says that a verdict needs more than the budget, as soon as the first pilot tells;
// empty: it does not, or nothing tells yet. The others may take less, so that it has to be
// far beyond.
func (s standing) hopeless() string {
	const beyond = 1.5
	p := s.plan
	if !p.Sessions || p.Budget == 0 || s.schedule.TrialTime == 0 {
		return ""
	}
	needed := s.elapsed + time.Duration(verdict.FirstLook*len(p.Layouts))*s.schedule.TrialTime +
		s.furtherBuilds(min(p.Instances, verdict.FirstLook))
	if float64(needed) < beyond*float64(p.Budget) {
		return ""
	}
	return fmt.Sprintf("by the first pilot the %d blocks that a verdict needs take about %s, and the budget is %s: give a "+
		"--budget of that, fewer layouts, or less work", verdict.FirstLook, about(needed), say.Human(p.Budget))
}

// FamilySample is what the complete blocks of a plan gave in one family of
// operations, for a comparison with another experiment's.
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
