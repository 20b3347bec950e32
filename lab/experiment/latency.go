package experiment

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"filewise"
	"filewise/lab/drive"
	"filewise/lab/verdict"
)

// Latency is the latency of one type of operation on one layout. The histograms of all its trials in blocks are added
// up.
type Latency struct {
	Operation string                   `json:"family"`
	Layout    string                   `json:"layout"`
	Type      string                   `json:"type,omitempty"` // empty if all operations are of one type
	Count     int64                    `json:"count"`          // operations in the histograms
	PerMinute float64                  `json:"per_minute"`     // operations done within the windows
	P50       time.Duration            `json:"p50_ns"`
	P90       time.Duration            `json:"p90_ns"`
	P99       time.Duration            `json:"p99_ns"`
	P999      time.Duration            `json:"p999_ns"`
	Max       time.Duration            `json:"max_ns"`
	Errors    map[filewise.Class]int64 `json:"errors,omitempty"`
}

// leastForP99 is the number of operations from which a 99th percentile differs from the maximum. With fewer, down to
// leastForP90, a layout exceeds a limit if its 90th percentile does. If 99 % of all operations took less than the
// limit, more than a tenth of 20 or more would exceed it in less than 1 % of cases (binomial distribution).
const (
	leastForP99 = 100
	leastForP90 = 20
)

// exceeds reports whether the 99th percentile is above a limit. It returns false if there are too few operations to
// decide.
func (l Latency) exceeds(limit time.Duration) bool {
	switch {
	case l.Count >= leastForP99:
		return l.P99 > limit
	case l.Count >= leastForP90:
		return l.P90 > limit
	default:
		return false
	}
}

// Latencies returns the latencies of every operation, layout and type. They are in the order of the plan's layouts, then
// of first appearance in the trials. It returns an error if a histogram cannot be read.
func (p Plan) Latencies(trials []filewise.Trial) ([]Latency, error) {
	sums := latencySums{at: map[latencyKey]*latencySum{}}
	for _, t := range trials {
		if t.Cell.Pilot || t.State != filewise.Done {
			continue
		}
		for _, m := range windowed(t) {
			if err := sums.measure(t.Cell.Layout, m); err != nil {
				return nil, fmt.Errorf("%s of %s in block %d: %w", m.Operation, t.Cell.Layout, t.Cell.Block, err)
			}
		}
	}
	var all []Latency
	for _, l := range p.Layouts {
		for _, k := range sums.order {
			if k.layout == l.Name {
				all = append(all, sums.at[k].latency(k))
			}
		}
	}
	return all, nil
}

type latencyKey struct{ operation, layout, kind string }

type latencySum struct {
	hist    *hdr.PackedHistogram
	work    float64
	measure time.Duration // sum of all windows
	errors  map[filewise.Class]int64
}

type latencySums struct {
	at    map[latencyKey]*latencySum
	order []latencyKey
}

// measure adds the latencies of a measure: of each type, or of the measure itself if it has no types.
func (s *latencySums) measure(layout string, m filewise.Measure) error {
	if len(m.Types) == 0 {
		return s.add(latencyKey{m.Operation, layout, ""}, m, filewise.TypeMeasure{Work: m.Work, Hist: m.Hist, Errors: m.Errors})
	}
	for _, name := range slices.Sorted(maps.Keys(m.Types)) {
		if err := s.add(latencyKey{m.Operation, layout, name}, m, m.Types[name]); err != nil {
			return err
		}
	}
	return nil
}

func (s *latencySums) add(k latencyKey, m filewise.Measure, of filewise.TypeMeasure) error {
	sum := s.at[k]
	if sum == nil {
		sum = &latencySum{}
		s.at[k] = sum
		s.order = append(s.order, k)
	}
	sum.work += of.Work
	sum.measure += m.Window[1] - m.Window[0]
	for c, n := range of.Errors {
		if sum.errors == nil {
			sum.errors = map[filewise.Class]int64{}
		}
		sum.errors[c] += n
	}
	if len(of.Hist) == 0 {
		return nil
	}
	h, err := drive.DecodeHist(of.Hist)
	if err != nil {
		return err
	}
	if sum.hist == nil {
		sum.hist = h
		return nil
	}
	if dropped := sum.hist.Merge(h); dropped > 0 {
		return fmt.Errorf("%d latencies are beyond the range of histograms", dropped)
	}
	return nil
}

func (s *latencySum) latency(k latencyKey) Latency {
	l := Latency{Operation: k.operation, Layout: k.layout, Type: k.kind, Errors: s.errors}
	if s.measure > 0 {
		l.PerMinute = s.work / s.measure.Minutes()
	}
	if s.hist == nil || s.hist.TotalCount() == 0 {
		return l
	}
	at := func(q float64) time.Duration { return time.Duration(s.hist.ValueAtPercentile(q)) * time.Microsecond }
	l.Count = s.hist.TotalCount()
	l.P50, l.P90, l.P99, l.P999, l.Max = at(50), at(90), at(99), at(99.9), time.Duration(s.hist.Max())*time.Microsecond
	return l
}

// LatencyOf returns the latency of all operations of one measure. It is zero if the measure has no histogram.
func LatencyOf(m filewise.Measure) (Latency, error) {
	sums := latencySums{at: map[latencyKey]*latencySum{}}
	err := sums.add(latencyKey{}, m, filewise.TypeMeasure{Work: m.Work, Hist: m.Hist})
	return sums.at[latencyKey{}].latency(latencyKey{}), err
}

// beyond returns, by layout, the worst latency that exceeds the plan's limit.
func (p Plan) beyond(all []Latency, operation string) map[string]Latency {
	worst := map[string]Latency{}
	of, _ := filewise.OfLatency(operation)
	for _, l := range all {
		if l.exceeds(p.P99Limit) && (operation == "" || operation == OperationOverall || l.Operation == of) && l.P99 > worst[l.Layout].P99 {
			worst[l.Layout] = l
		}
	}
	return worst
}

// barred returns a sentence with the layouts that exceed the latency limit. It returns "" if a layout is recommended,
// which guarded handles.
func (s standing) barred(r verdict.Result, operation string, all []Latency) string {
	analysis, ok := r.Last()
	if !ok || analysis.Recommended >= 0 || s.plan.P99Limit <= 0 {
		return ""
	}
	over := s.plan.beyond(all, operation)
	if len(over) == 0 {
		return ""
	}
	var names []string
	for _, l := range s.plan.Layouts {
		if worst, is := over[l.Name]; is {
			names = append(names, fmt.Sprintf("%s (%s is %s)", l.Name, worst.what(), short(worst.P99)))
		}
	}
	return fmt.Sprintf(" Beyond the latency limit of %s, and so not to be recommended: %s.", short(s.plan.P99Limit), strings.Join(names, ", "))
}

// guarded removes the recommendation of a layout if a 99th percentile is above the plan's limit for any type. It
// returns a sentence on that, to come first. If the layouts within the limit, judged alone, allow it, another layout is
// recommended instead.
func (s standing) guarded(r verdict.Result, operation string, all []Latency) (verdict.Result, []string) {
	analysis, ok := r.Last()
	if !ok || analysis.Recommended < 0 || s.plan.P99Limit <= 0 {
		return r, nil
	}
	over := s.plan.beyond(all, operation)
	name := r.Arms[analysis.Recommended].Name
	l, bad := over[name]
	if !bad {
		return r, nil
	}
	analyses := slices.Clone(r.Analyses)
	last := &analyses[len(analyses)-1]
	last.Recommended, last.Stop = -1, verdict.ReasonAllResolved
	r.Analyses = analyses
	by := "throughput"
	if _, figure := filewise.OfLatency(operation); figure != "" {
		by = figure
	}
	alone := fmt.Sprintf("it would be %s, but its %s is %s, above the limit of %s.", name, l.what(), short(l.P99), short(s.plan.P99Limit))
	why := "No recommendation: by " + by + " " + alone
	if instead := s.within(r.Config.Confidence, operation, over); instead != "" {
		why = "Recommended: " + instead + ", of the layouts within the latency limit. By " + by + " alone " + alone
		for i, a := range r.Arms {
			if a.Name == instead {
				last.Recommended, last.Stop = i, verdict.ReasonRecommend
			}
		}
		if instead == s.plan.Baseline {
			last.Stop = verdict.ReasonKeepBaseline
		}
	}
	return r, []string{why}
}

// within returns the layout that is recommended among the layouts within the limit, or "" if there is none.
func (s standing) within(confidence float64, operation string, over map[string]Latency) string {
	h := s.history
	h.plan.Layouts = nil
	h.plan.AA = ""
	for _, l := range s.plan.Layouts {
		if _, bad := over[l.Name]; !bad && l.Name != s.plan.AA {
			h.plan.Layouts = append(h.plan.Layouts, l)
		}
	}
	switch len(h.plan.Layouts) {
	case 0:
		return ""
	case 1:
		return h.plan.Layouts[0].Name
	}
	if _, bad := over[h.plan.Baseline]; bad {
		h.plan.Baseline = h.plan.Layouts[0].Name
	}
	table := make(verdict.Table, s.results[0].Blocks)
	for b := range table {
		table[b] = h.row(b+1, operation)
	}
	r, err := h.plan.judgeTable(s.schedule, table, confidence)
	if err != nil { // blocks that are incomplete without the others prove nothing
		return ""
	}
	return r.RecommendedName()
}

// what returns which latency it is, in words: "p99 of payment in 100 users".
func (l Latency) what() string {
	if l.Type == "" {
		return "p99 in " + l.Operation
	}
	return "p99 of " + l.Type + " in " + l.Operation
}

// short formats a duration with at most three significant digits.
func short(d time.Duration) string {
	switch {
	case d >= time.Second:
		return fmt.Sprintf("%.3g s", d.Seconds())
	default:
		return fmt.Sprintf("%.3g ms", float64(d)/float64(time.Millisecond))
	}
}
