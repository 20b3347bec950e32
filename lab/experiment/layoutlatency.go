package experiment

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"filewise"
	"filewise/internal/say"
	"filewise/lab/drive"
	"filewise/lab/verdict"
)

// LayoutLatency is the latency of an operation's executions on one layout, over all its trials in complete blocks.
type LayoutLatency struct {
	Layout string        `json:"layout"`
	Count  int64         `json:"count"` // operations
	P50    time.Duration `json:"p50_ns"`
	P99    time.Duration `json:"p99_ns"`
	P999   time.Duration `json:"p999_ns"`
	// Change is the change of p99 from the baseline, block by block. It is nil for the baseline, and if it is not known.
	Change *LatencyChange `json:"p99_change,omitempty"`
}

// LatencyChange is a difference of latency on the log scale. If Effect is above 0, operations take longer than on the
// baseline. Lo and Hi are Student's t limits over the blocks, for one analysis, at the operation's confidence for all
// layouts together. They are nil if not known.
type LatencyChange struct {
	Effect float64  `json:"effect"`
	Lo     *float64 `json:"lo,omitempty"`
	Hi     *float64 `json:"hi,omitempty"`
}

// Interval returns the change and its limits, each NaN if not known.
func (c *LatencyChange) Interval() (effect, lo, hi float64) {
	effect, lo, hi = math.NaN(), math.NaN(), math.NaN()
	if c != nil {
		effect = c.Effect
	}
	if c != nil && c.Lo != nil && c.Hi != nil {
		lo, hi = *c.Lo, *c.Hi
	}
	return effect, lo, hi
}

// layoutLatencies returns the latencies of an operation by layout. A layout with too few operations for a 99th percentile
// is left out. Change is nil if no single trial has enough.
func (s standing) layoutLatencies(r verdict.Result, operation string) ([]LayoutLatency, error) {
	table, sums, err := s.history.p99s(r.Blocks, operation)
	if err != nil || len(sums) == 0 {
		return nil, err
	}
	changes, err := TailChanges(r, table)
	if err != nil {
		return nil, err
	}
	var out []LayoutLatency
	for i, l := range s.plan.Layouts {
		h := sums[l.Name]
		if h == nil {
			continue
		}
		at := func(q float64) time.Duration { return time.Duration(h.ValueAtPercentile(q)) * time.Microsecond }
		out = append(out, LayoutLatency{Layout: l.Name, Count: h.TotalCount(), P50: at(50), P99: at(99), P999: at(99.9), Change: changes[i]})
	}
	return out, nil
}

// TailChanges returns each layout's change of p99 from the baseline, block by block. The table holds the inverse of
// every trial's p99. An entry is nil for the baseline, and if the change is not known.
func TailChanges(r verdict.Result, table verdict.Table) ([]*LatencyChange, error) {
	all, err := verdict.Few(r.Config, r.Arms, table)
	if err != nil {
		return nil, err
	}
	out := make([]*LatencyChange, len(all))
	for i, e := range all {
		if i == r.Config.Baseline || math.IsNaN(e.Effect) {
			continue
		}
		out[i] = &LatencyChange{Effect: -e.Effect}
		if e.Known() {
			lo, hi := -e.Hi, -e.Lo
			out[i].Lo, out[i].Hi = &lo, &hi
		}
	}
	return out, nil
}

// lossFrom is the factor from which a longer p99 appears in the verdict's first lines, if there is no latency limit.
const lossFrom = 2

// winner returns the index of the layout to use if it is not the baseline. If none is recommended yet, it returns the
// leader if that is proven faster than the baseline. It returns −1 if there is none.
func winner(r verdict.Result) int {
	analysis, ok := r.Last()
	switch {
	case !ok || analysis.Recommended == r.Config.Baseline:
		return -1
	case analysis.Recommended >= 0:
		return analysis.Recommended
	case analysis.Leader >= 0 && !analysis.CarryOver && analysis.Estimates[analysis.Leader].Lo > 0:
		return analysis.Leader
	}
	return -1
}

// latencyLoss returns a sentence if the layout that wins throughput pays for it in latency. It compares the p99 of all
// trials, which tables show, and the change block by block, which one bad trial hardly moves. It returns "" if the plan
// has a latency limit, which guarded enforces.
func (s standing) latencyLoss(r verdict.Result, all []LayoutLatency) string {
	arm := winner(r)
	if arm < 0 || s.plan.P99Limit > 0 {
		return ""
	}
	of := func(arm int) int {
		return slices.IndexFunc(all, func(l LayoutLatency) bool { return l.Layout == r.Arms[arm].Name })
	}
	best, base := of(arm), of(r.Config.Baseline)
	if best < 0 || base < 0 {
		return ""
	}
	return lossWords(all[best], all[base], r.Config.Confidence)
}

// BlockLoss returns the sentence of latencyLoss if only the changes block by block are known.
func BlockLoss(r verdict.Result, changes []*LatencyChange) string {
	arm := winner(r)
	if arm < 0 {
		return ""
	}
	return lossWords(LayoutLatency{Layout: r.Arms[arm].Name, Change: changes[arm]},
		LayoutLatency{Layout: r.Arms[r.Config.Baseline].Name}, r.Config.Confidence)
}

// caution is the first word of a sentence on lost latency.
const caution = "Caution: "

// LatencyLoss returns sentences on layouts to use that have a much longer p99, by operation if there are several. It
// returns "" if there is none. The sentences directly follow the verdict wherever that is shown.
func (j Judgement) LatencyLoss() string {
	var out []string
	for _, f := range j.Operations {
		switch {
		case f.LatencyLoss == "":
		case len(j.Operations) > 1:
			out = append(out, "Caution, "+f.Name+": "+strings.TrimPrefix(f.LatencyLoss, caution))
		default:
			out = append(out, f.LatencyLoss)
		}
	}
	return strings.Join(out, " ")
}

// Stalls returns which trials stalled and what that costs, by operation if there are several. If none did, it returns how
// many can stall undetected. It returns "" if nothing is claimed yet.
func (j Judgement) Stalls() string {
	var seen []string
	none := ""
	for _, f := range j.Operations {
		switch analysis, _ := f.Result.Last(); {
		case len(analysis.Slow) == 0 && none == "":
			none = f.Result.Stalls()
		case len(analysis.Slow) == 0:
		case len(j.Operations) > 1:
			seen = append(seen, say.Joined(": ", say.Sentence(f.Name), f.Result.Stalls()))
		default:
			seen = append(seen, f.Result.Stalls())
		}
	}
	if len(seen) == 0 {
		return none
	}
	return strings.Join(seen, " ")
}

// lossWords compares the p99 of two layouts, over all trials if that is known. It returns "" if best does not take at
// least lossFrom times as long as base.
func lossWords(best, base LayoutLatency, confidence float64) string {
	effect, lo, hi := best.Change.Interval()
	over := math.Log(float64(best.P99) / float64(base.P99))
	values := short(best.P99) + ", against " + short(base.P99)
	interval := ""
	if say.Known(lo) && !say.Unresolvable(lo, hi) {
		interval = fmt.Sprintf("%s interval %s … %s", say.Confidence(confidence), say.Ratio(lo), say.Ratio(hi))
	}
	switch {
	case over >= math.Log(lossFrom):
		byBlock := ""
		if say.Known(effect) {
			byBlock = say.Joined(", ", "block by block "+say.Ratio(effect)+" times", interval)
		}
		return fmt.Sprintf(caution+"p99 of %s is %s times that of %s: %s%s.", best.Layout, say.Ratio(over), base.Layout, values,
			say.InBrackets(byBlock))
	case effect >= math.Log(lossFrom):
		overAll := ""
		if say.Known(over) {
			overAll = "over all trials " + values
		}
		return fmt.Sprintf(caution+"p99 of %s is %s times that of %s, block by block%s.", best.Layout, say.Ratio(effect), base.Layout,
			say.InBrackets(say.Joined("; ", interval, overAll)))
	}
	return ""
}

// p99s returns a table of the first blocks with the inverse of every trial's p99 instead of throughput. It also returns
// the histogram of each layout that has enough operations for a p99.
func (h history) p99s(blocks int, operation string) (verdict.Table, map[string]*hdr.PackedHistogram, error) {
	table, sums := make(verdict.Table, blocks), map[string]*hdr.PackedHistogram{}
	for b := range table {
		table[b] = make([]verdict.Cell, len(h.plan.Layouts))
		for i, l := range h.plan.Layouts {
			t := h.tries[cellKey{b + 1, l.Name}].done
			if t == nil {
				continue
			}
			for _, m := range windowed(*t) {
				if m.Operation != operation || len(m.Hist) == 0 {
					continue
				}
				one, err := drive.DecodeHist(m.Hist)
				if err != nil {
					return nil, nil, fmt.Errorf("%s of %s in block %d: %w", operation, l.Name, b+1, err)
				}
				if one.TotalCount() >= leastForP99 {
					p99 := max(time.Duration(one.ValueAtPercentile(99))*time.Microsecond, time.Microsecond)
					table[b][i] = verdict.Cell{Throughput: 1 / p99.Seconds(), OK: true}
				}
				if sums[l.Name] == nil {
					sums[l.Name] = one
				} else if dropped := sums[l.Name].Merge(one); dropped > 0 {
					return nil, nil, fmt.Errorf("%s of %s: %d latencies are beyond the range of histograms", operation, l.Name, dropped)
				}
			}
		}
	}
	maps.DeleteFunc(sums, func(_ string, h *hdr.PackedHistogram) bool { return h.TotalCount() < leastForP99 })
	return table, sums, nil
}

// leastRate is the share of an open loop's rate below which the rate was not reached.
const leastRate = 0.95

// fewest returns the number of operations below which a window did not reach the rate. Arrivals are random, so it
// allows for three standard deviations of a Poisson distribution.
func fewest(rate float64, m filewise.Measure) float64 {
	expected := rate * (m.Window[1] - m.Window[0]).Seconds()
	return leastRate*expected - 3*math.Sqrt(expected)
}

// byLatency returns a phase's latencies as measures. Each is a time whose inverse is judged, so that more is better.
// Latency counts from the intended start; an operation that never began counts with its wait.
func byLatency(phase filewise.Phase, of filewise.Measure) ([]filewise.Measure, error) {
	if len(phase.ByLatency) == 0 {
		return nil, nil
	}
	h, err := drive.DecodeHist(of.Hist)
	if err != nil {
		return nil, err
	}
	if h.TotalCount() == 0 {
		return nil, filewise.Errorf(filewise.CodeTrials, "give a higher rate, or more data so that it takes longer", "%s: no operation was due",
			of.Operation)
	}
	var out []filewise.Measure
	for _, figure := range phase.ByLatency {
		us := h.Mean()
		if figure == filewise.P99Latency {
			us = float64(h.ValueAtPercentile(99))
		}
		took := max(time.Duration(us*float64(time.Microsecond)), time.Microsecond)
		out = append(out, filewise.Measure{
			Operation: filewise.LatencyOperation(of.Operation, figure), Unit: filewise.UnitTimes, Connections: of.Connections, Paced: true,
			Window: [2]time.Duration{0, took}, Work: 1, Hist: of.Hist, Errors: of.Errors,
		})
	}
	return out, nil
}

// recorded adds a measure to the trial, and the measures of its latency that are judged. In an interleaved block these
// are added once all turns are merged into one measure.
func (l *life) recorded(phase filewise.Phase, m filewise.Measure) error {
	if l.turn != nil {
		l.trial.Measures = append(l.trial.Measures, m)
		return nil
	}
	if d, ok := l.planned[phase.Operation]; ok {
		m.Deltas = append(m.Deltas, d)
	}
	more, err := byLatency(phase, m)
	l.trial.Measures = append(append(l.trial.Measures, m), more...)
	if got := m.Throughput(); err == nil && phase.Rate > 0 && m.Work < fewest(phase.Rate, m) {
		l.trial.Warnings = append(l.trial.Warnings, filewise.Warning{
			Code: "rate-not-reached",
			Message: fmt.Sprintf("%s: %s did %.3g of the %.3g %s a second that arrived, so that its latency grows for as long as a trial takes.",
				m.Operation, l.layout.Name, got, phase.Rate, m.Unit),
			Remedy: "Set a lower --rate (during a backup: fewer connections), or compare throughput without one.",
		})
	}
	return err
}

// longestLoad bounds the load that runs during an act. Its slices have the length loadSlice, so that there are few
// of them.
const longestLoad, loadSlice = 24 * time.Hour, time.Second

// underLoad runs an act while the load of another phase runs. If the phase has no such load, underLoad runs
// the act alone. The returned function records the load's work.
func (l *life) underLoad(ctx context.Context, phase filewise.Phase, act func() error) (record func() error, err error) {
	record = func() error { return nil }
	i := l.program.PhaseOf(phase.ConcurrentLoad)
	if i < 0 {
		return record, act()
	}
	sessions, err := Connect(ctx, l.db, i, l.program.Phases[i].Connections)
	defer func() { err = errors.Join(err, CloseAll(sessions)) }()
	if err != nil {
		return record, err
	}
	over, gone := make(chan struct{}), make(chan struct{})
	load, err := l.load(l.program.Phases[i], sessions)
	if err != nil {
		return record, err
	}
	load.SliceLength, load.Window, load.Until = loadSlice, longestLoad, over
	var result drive.Result
	var loadErr error
	go func() {
		defer close(gone)
		result, loadErr = drive.Run(ctx, load)
	}()
	err = act()
	close(over)
	<-gone
	m := result.Measure
	m.Operation, m.Unit = filewise.ConcurrentOperation(phase.ConcurrentLoad, phase.Operation), l.program.Phases[i].Unit
	m.Connections, m.Paced = len(sessions), true
	record = func() error { return l.recorded(l.program.Phases[i], m) }
	if loadErr != nil {
		loadErr = fmt.Errorf("%s: %w", m.Operation, loadErr)
	}
	return record, errors.Join(err, loadErr)
}
