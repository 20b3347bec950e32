package archive

import (
	"fmt"
	"math"
	"time"

	"filewise/internal/say"
	"filewise/lab/experiment"
)

// TrialsP99 holds the 99th percentile of a layout's latency in each trial. The percentile of all operations cannot be
// computed from these; it lies between the best and the worst.
type TrialsP99 struct {
	Layout string        `json:"layout"`
	Trials int           `json:"trials"` // trials that have a p99
	Best   time.Duration `json:"best_ns"`
	Worst  time.Duration `json:"worst_ns"`
	// Change is the change against the baseline, from the trials of the same blocks that have enough operations. It is
	// absent for the baseline, and if the change is not known.
	Change *experiment.LatencyChange `json:"p99_change,omitempty"`
}

// tails judges the trials' p99, if the file has it, and adds the latency loss of the layout to use.
func (out *Numbers) tails(in Foreign) error {
	changes, err := experiment.TailChanges(out.Verdict, in.P99)
	if err != nil {
		return err
	}
	for j, arm := range out.Verdict.Arms {
		l := TrialsP99{Layout: arm.Name, Change: changes[j]}
		for _, row := range in.P99 {
			if row[j].Throughput == 0 {
				continue
			}
			took := duration(1 / row[j].Throughput)
			if l.Trials++; l.Trials == 1 || took < l.Best {
				l.Best = took
			}
			l.Worst = max(l.Worst, took)
		}
		if l.Trials > 0 {
			out.P99 = append(out.P99, l)
		}
	}
	if in.Design.P99Limit == 0 {
		out.LatencyLoss = experiment.BlockLoss(out.Verdict, changes)
		return nil
	}
	limit := duration(in.Design.P99Limit)
	out.Notes = append(out.Notes, fmt.Sprintf("The run had --p99-limit %s: filewise judge RUN, which has all latencies, holds layouts to it.",
		say.Human(limit)))
	for _, l := range out.P99 {
		if l.Layout == out.Verdict.RecommendedName() && l.Worst > limit {
			out.LatencyLoss = fmt.Sprintf("Caution: p99 of %s is %s in its worst trial, above the run's --p99-limit of %s, which holds for all "+
				"trials together.", l.Layout, say.Human(l.Worst), say.Human(limit))
		}
	}
	return nil
}

// duration returns a file's time in seconds as a Duration, from 1 ns to 100,000 hours.
func duration(seconds float64) time.Duration {
	return time.Duration(max(1, math.Round(min(seconds, time.Hour.Seconds()*1e5)*float64(time.Second))))
}
