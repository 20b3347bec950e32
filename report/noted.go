package report

import (
	"cmp"
	"fmt"
	"slices"
)

const (
	mostDots  = 600 // up to so many trials are drawn and listed one by one
	mostNoted = 100 // of more trials, so many peculiar ones
)

// Bulky tells whether there are too many trials to show each.
func (v view) Bulky() bool { return len(v.Trials) > mostDots }

// Noted are the trials that are listed: all, or of many the peculiar ones.
func (v view) Noted() []trial {
	if !v.Bulky() {
		return v.Trials
	}
	var out []trial
	for _, t := range v.Trials {
		if t.Kind == kindFailed || t.Kind == kindDownWeighted || len(t.Warnings) > 0 {
			out = append(out, t)
		}
	}
	slices.SortStableFunc(out, func(a, b trial) int { return cmp.Compare(rankOf(a.Kind), rankOf(b.Kind)) })
	out = out[:min(mostNoted, len(out))]
	slices.SortFunc(out, func(a, b trial) int { return cmp.Compare(a.Number, b.Number) })
	return out
}

// rankOf puts first what a reader must see.
func rankOf(k kind) int {
	switch k {
	case kindFailed:
		return 0
	case kindDownWeighted:
		return 1
	}
	return 2
}

// NotedNote says what the list leaves out; empty: nothing.
func (v view) NotedNote() string {
	if !v.Bulky() {
		return ""
	}
	return fmt.Sprintf("Of %s, the list has the failed, the down-weighted and those with warnings, %d at most; filewise export %d has them all.", count(len(v.Trials), "trial"), mostNoted, v.RunID)
}

// part is what the trials of one layout gave in one part of a long run.
type part struct{ Blocks, Layout, Trials, Low, Median, High, Slowest string }

// Parts are a long run's tenths; none of a short one.
func (v view) Parts() []part {
	if !v.Bulky() {
		return nil
	}
	last := 0
	for _, t := range v.Trials {
		last = max(last, t.Cell.Block)
	}
	step := (last + 9) / 10
	var out []part
	for from := 1; from <= last; from += step {
		for _, r := range v.Rows {
			var xs []float64
			for _, t := range v.Trials {
				if t.Cell.Layout == r.Name && t.Cell.Block >= from && t.Cell.Block < from+step && known(t.Throughput) {
					xs = append(xs, t.Throughput)
				}
			}
			if len(xs) > 0 {
				out = append(out, part{
					fmt.Sprintf("%d–%d", from, min(from+step-1, last)), r.Name, fmt.Sprint(len(xs)),
					sig3(quantile(xs, 0.1)), sig3(median(xs)), sig3(quantile(xs, 0.9)), sig3(slices.Min(xs)),
				})
			}
		}
	}
	return out
}
