package report

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"filewise"
	"filewise/internal/say"
)

// kind is how a drawing shows a trial.
type kind string

const (
	kindDone         kind = "done"
	kindDownWeighted kind = "down-weighted"
	kindPilot        kind = "pilot"
	kindFailed       kind = "failed"
)

// trial holds one stored trial and the values that are drawn of it.
type trial struct {
	filewise.Trial
	Number     int // from 1, in the order in which they ran
	Kind       kind
	Measure    filewise.Measure // the judged measure; zero if there is none
	Throughput float64          // NaN means none
	Deviation  float64          // ln of throughput divided by the layout's typical throughput. NaN means none
}

// inBlock reports whether the trial is finished and not a pilot.
func (t trial) inBlock() bool { return t.State == filewise.Done && !t.Cell.Pilot }

func (v view) trials() []trial {
	out := make([]trial, 0, len(v.Data.Trials))
	for i, t := range v.Data.Trials {
		x := trial{Trial: t, Number: i + 1, Kind: kindDone, Throughput: math.NaN(), Deviation: math.NaN()}
		for _, m := range t.Measures {
			if m.Operation == v.Operation {
				x.Measure = m
				break
			}
		}
		if y, ok := t.Throughput(v.Operation); ok && say.Known(y) {
			x.Throughput = y
		}
		switch {
		case t.State != filewise.Done:
			x.Kind = kindFailed
		case t.Cell.Pilot:
			x.Kind = kindPilot
		}
		out = append(out, x)
	}
	return out
}

// flagDownWeighted computes each trial's deviation from the typical trial of its layout, and flags the trials that the
// robust fit down-weighted. The verdict gives their number for each layout. They have the largest residuals after the
// blocks' common changes are removed.
func (v view) flagDownWeighted() {
	for _, r := range v.Rows {
		for i := range v.Trials {
			if t := &v.Trials[i]; t.Cell.Layout == r.Name && r.Typical > 0 {
				t.Deviation = math.Log(t.Throughput / r.Typical)
			}
		}
	}
	common := v.blockMedians()
	for _, r := range v.Rows {
		if !r.Judged || r.Estimate.DownWeighted == 0 {
			continue
		}
		var own []*trial
		for i := range v.Trials {
			t := &v.Trials[i]
			if t.Cell.Layout == r.Name && t.Kind == kindDone && say.Known(t.Deviation) && t.Cell.Block <= v.Analysis.Block {
				own = append(own, t)
			}
		}
		residual := func(t *trial) float64 { return math.Abs(t.Deviation - common[t.Cell.Block]) }
		slices.SortStableFunc(own, func(a, b *trial) int { return cmp.Compare(residual(b), residual(a)) })
		for _, t := range own[:min(r.Estimate.DownWeighted, len(own))] {
			t.Kind = kindDownWeighted
		}
	}
}

// blockMedians returns the median deviation of each block's trials.
func (v view) blockMedians() map[int]float64 {
	by := make(map[int][]float64)
	for _, t := range v.Trials {
		if t.Kind == kindDone && say.Known(t.Deviation) {
			by[t.Cell.Block] = append(by[t.Cell.Block], t.Deviation)
		}
	}
	out := make(map[int]float64, len(by))
	for b, xs := range by {
		out[b] = median(xs)
	}
	return out
}

// blockText returns the block of a trial: "3", or "pilot".
func (t trial) blockText() string {
	if t.Cell.Pilot {
		return "pilot"
	}
	s := strconv.Itoa(t.Cell.Block)
	if t.Cell.Attempt > 1 {
		s += ", attempt " + strconv.Itoa(t.Cell.Attempt)
	}
	return s
}

// deviationText returns the deviation from the layout's typical trial.
func (t trial) deviationText() string { return say.Difference(t.Deviation) }

func (t trial) throughputText() string { return say.Sig3(t.Throughput) }

// noteText returns the trial's peculiarities.
func (t trial) noteText() string {
	switch t.Kind {
	case kindFailed:
		if t.Reason == "" {
			return "failed"
		}
		return "failed: " + t.Reason
	case kindPilot:
		return say.Joined("; ", "pilot", Failures(t.Measure.Errors))
	case kindDownWeighted:
		return say.Joined("; ", "down-weighted", Failures(t.Measure.Errors))
	}
	return Failures(t.Measure.Errors)
}

// startedText returns the time of day at which the trial started, to the second.
func (t trial) startedText() string {
	if t.Started.IsZero() {
		return say.Absent
	}
	return t.Started.Format("15:04:05")
}

// tookText returns the wall time of the trial, from build to drop.
func (t trial) tookText() string {
	if t.Elapsed <= 0 {
		return say.Absent
	}
	return say.Human(t.Elapsed)
}

// Failures writes the number of failures of each class: "3 × deadlock, 1 × connection". It is empty if there are none.
func Failures(failures map[filewise.Class]int64) string {
	var words []string
	for _, class := range slices.Sorted(maps.Keys(failures)) {
		if n := failures[class]; n > 0 {
			words = append(words, strconv.FormatInt(n, 10)+" × "+string(class))
		}
	}
	return strings.Join(words, ", ")
}

// retriedText counts for each layout the operations that failed and were retried, over all measures of its trials. It
// is empty if there are none.
func (v view) retriedText() string {
	sums := map[string]map[filewise.Class]int64{}
	for _, t := range v.whole.Trials {
		sum := sums[t.Cell.Layout]
		if sum == nil {
			sum = map[filewise.Class]int64{}
			sums[t.Cell.Layout] = sum
		}
		for _, m := range t.Measures {
			for class, n := range m.Errors {
				sum[class] += n
			}
		}
	}
	var words []string
	for _, r := range v.Rows {
		if s := Failures(sums[r.Name]); s != "" {
			words = append(words, r.Name+" "+s)
		}
	}
	if len(words) == 0 {
		return ""
	}
	return "Operations that failed and were tried again: " + strings.Join(words, "; ") + "."
}
