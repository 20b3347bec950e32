package report

import (
	"fmt"
	"math"
	"slices"
	"time"

	"filewise"
	"filewise/internal/say"
	"filewise/lab/experiment"
	"filewise/lab/verdict"
)

// row holds one layout's results.
type row struct {
	filewise.Layout
	Baseline bool
	Timed    bool             // the measured quantity is a time
	Done     int              // trials in blocks, without pilots
	Failed   int              // failed trials in blocks, without pilots
	Estimate verdict.Estimate // fields are NaN if there is no interim analysis
	Judged   bool             // Estimate comes from an interim analysis
	Typical  float64          // work per second. NaN means not known
	Median   bool             // Typical is a plain median, since there is no interim analysis
	Bytes    float64          // payload bytes per second of the typical trial. NaN means not known
	Slowest  float64          // the slowest trial's throughput
	Tail     spread           // time until the slowest connection's last commit
	Sync     spread           // time from then until everything was durable
	Window   float64          // median rate within the windows, if another rate is judged. NaN means not known
	Calls    calls
	Latency  *experiment.LayoutLatency // nil means not known
}

// measured reports whether a verdict, or the speed of any layout, is known.
func (v view) measured() bool {
	return v.Judged || slices.ContainsFunc(v.Rows, func(r row) bool { return say.Known(r.Typical) })
}

func (v view) row(l filewise.Layout) row {
	r := row{Layout: l, Baseline: l.Name == v.Plan.Baseline, Timed: v.Timed(), Typical: nan, Bytes: nan, Slowest: nan, Window: nan}
	r.Estimate, r.Judged = v.estimate(l.Name)
	if i := slices.IndexFunc(v.of.Latency, func(x experiment.LayoutLatency) bool { return x.Layout == l.Name }); i >= 0 {
		r.Latency = &v.of.Latency[i]
	}
	if r.Timed {
		r.Estimate = inTime(r.Estimate)
	}
	var xs, perWork, windows []float64
	var tails, syncs []time.Duration
	var hists [][]byte
	for _, t := range v.Trials {
		switch {
		case t.Cell.Layout != l.Name || t.Cell.Pilot:
			continue
		case t.Kind == kindFailed:
			r.Failed++
			continue
		}
		r.Done++
		if !say.Known(t.Throughput) {
			continue
		}
		xs = append(xs, t.Throughput)
		if t.Measure.Bytes > 0 {
			perWork = append(perWork, t.Measure.Bytes/t.Measure.Work)
		}
		if t.Measure.Rest != nil {
			windows = append(windows, t.Measure.WindowRate())
		}
		tails, syncs = append(tails, t.Measure.Tail), append(syncs, t.Measure.Sync)
		hists = append(hists, t.Measure.Hist)
	}
	r.Tail, r.Sync, r.Calls = spreadOf(tails), spreadOf(syncs), callsOf(hists)
	r.Window = median(windows)
	r.Typical = r.Estimate.Typical
	if !r.Judged || !say.Known(r.Typical) || r.Typical <= 0 {
		r.Typical, r.Median = median(xs), true
	}
	r.Bytes = r.Typical * median(perWork)
	if len(xs) > 0 {
		r.Slowest = slices.Min(xs)
	}
	return r
}

// inTime turns an estimate of speed into an estimate of time, its inverse. A positive effect then means longer. WorstLoss
// and mark stay.
func inTime(e verdict.Estimate) verdict.Estimate {
	e.Effect, e.RawEffect = -e.Effect, -e.RawEffect
	e.Lo, e.Hi = -e.Hi, -e.Lo
	return e
}

// estimate returns the last interim analysis's estimate of a layout. A dropped layout keeps the difference and interval
// of its own last analysis.
func (v view) estimate(layout string) (verdict.Estimate, bool) {
	arm := slices.IndexFunc(v.of.Result.Arms, func(a verdict.Arm) bool { return a.Name == layout })
	if !v.Judged || arm < 0 || arm >= len(v.Analysis.Estimates) {
		return verdict.Estimate{Effect: nan, SE: nan, Lo: nan, Hi: nan, RawEffect: nan, WorstLoss: nan, Typical: nan}, false
	}
	return v.of.Result.Shown(v.Analysis, arm), true
}

// trialsText counts the finished trials: "6", or "6 of 7" if some failed.
func (r row) trialsText() string {
	if r.Failed == 0 {
		return fmt.Sprint(r.Done)
	}
	return fmt.Sprintf("%d of %d", r.Done, r.Done+r.Failed)
}

// typicalText returns the throughput of the typical trial, or its time.
func (r row) typicalText() string {
	if r.Timed && r.Typical > 0 {
		return say.Seconds(1 / r.Typical)
	}
	return say.Sig3(r.Typical)
}

// differenceText returns the difference from the baseline with its interval.
func (r row) differenceText() string {
	switch {
	case r.Baseline:
		return "baseline"
	case !r.Judged || !say.Known(r.Estimate.Effect):
		return say.Absent
	}
	return say.Interval(r.Estimate.Effect, r.Estimate.Lo, r.Estimate.Hi)
}

// rawText returns the difference of the geometric means, in which no trial is down-weighted.
func (r row) rawText() string {
	if r.Baseline {
		return "baseline"
	}
	return say.Difference(r.Estimate.RawEffect)
}

// worstLossText returns the worst-case loss of choosing the layout: "none" if all others are shown to be slower.
func (r row) worstLossText() string {
	if !r.Judged || !say.Known(r.Estimate.WorstLoss) {
		return say.Absent
	}
	return say.Bound(r.Estimate.WorstLoss)
}

// downWeightedText counts the trials that the robust fit down-weighted.
func (r row) downWeightedText() string {
	if !r.Judged {
		return say.Absent
	}
	return fmt.Sprint(r.Estimate.DownWeighted)
}

// markText returns the verdict on the layout in a word or two.
func (r row) markText() string {
	switch {
	case !r.Judged && r.Baseline:
		return "baseline"
	case !r.Judged && r.Done == 0:
		return string(verdict.MarkNoData)
	case !r.Judged || r.Estimate.Mark == "":
		return "undecided"
	case r.lost():
		return "dropped"
	case r.Estimate.Mark == verdict.MarkWithin:
		return "within the margin"
	}
	return string(r.Estimate.Mark)
}

// lost reports whether the layout was dropped without its own interval. It cannot be the best, so it is not an
// open question.
func (r row) lost() bool {
	return r.Estimate.DroppedAt > 0 && r.Estimate.Mark == verdict.MarkUndecided
}

// markClass returns a class of marks that share a colour: best, good, same, worse, open.
func (r row) markClass() string {
	if r.lost() {
		return "same"
	}
	switch r.Estimate.Mark {
	case verdict.MarkBest:
		return "best"
	case verdict.MarkBetter:
		return "good"
	case verdict.MarkWithin, verdict.MarkBaseline, verdict.MarkNotBest:
		return "same"
	case verdict.MarkWorse:
		return "worse"
	}
	return "open"
}

// droppedText names the block after which the layout was no longer measured.
func (r row) droppedText() string {
	if r.Estimate.DroppedAt == 0 {
		return ""
	}
	if r.lost() { // its mark states this already
		return fmt.Sprintf("after block %d", r.Estimate.DroppedAt)
	}
	return fmt.Sprintf("dropped after block %d", r.Estimate.DroppedAt)
}

// p99Text returns the time within which 99 % of the operations end.
func (r row) p99Text() string {
	if r.Latency == nil {
		return say.Absent
	}
	return say.Human(r.Latency.P99)
}

// p99Small returns the p99 for the line below another number, or nothing if it is not known.
func (r row) p99Small() []string {
	if r.Latency == nil {
		return nil
	}
	return []string{"p99 " + r.p99Text()}
}

// slowestText compares the slowest trial with the typical one.
func (r row) slowestText() string {
	if !say.Known(r.Slowest) || !(r.Typical > 0) {
		return say.Absent
	}
	return say.Difference(math.Log(r.Slowest / r.Typical))
}
