package verdict

import (
	"cmp"
	"math"
	"slices"
)

// A trial stalls when its distance from its arm's other trials is this many times their usual distance, and that much
// on the log scale at least. Distances are relative to the median of its block or of its baseline.
const (
	stallTimes = 8
	stallLeast = 0.10
	stallFrom  = 4 // common blocks
)

// Stall is a single trial that carries an effect: without it, it is another one.
type Stall struct {
	Arm     int     `json:"arm"`   // whose trial it is; the baseline's may carry any arm's effect
	Block   int     `json:"block"` // counted from 1
	Of      int     `json:"of"`    // the arm whose effect it carries
	Effect  float64 `json:"effect"`
	Without float64 `json:"without"` // the effect without that block
}

// stalls finds, for each running arm, the one trial that is far from all others.
func (s *scene) stalls() []Stall {
	var out []Stall
	base := s.cfg.Baseline
	for j := range s.arms {
		if j == base || s.droppedAt[j] > 0 {
			continue
		}
		d := s.differences(j, base)
		if len(d) < stallFrom {
			continue
		}
		blocks := s.commonBlocks(j, base)
		mid := median(slices.Clone(d))
		far, at := 0.0, 0
		for i, x := range d {
			if math.Abs(x-mid) > far {
				far, at = math.Abs(x-mid), i
			}
		}
		rest := slices.Delete(slices.Clone(d), at, at+1)
		centre := median(slices.Clone(rest))
		if far < stallLeast || far < stallTimes*madToSD*medianDistance(rest, centre) {
			continue
		}
		all, without := ofSample(d).effect, ofSample(rest).effect
		if math.Abs(all-without) < s.cfg.Margin {
			continue
		}
		whose := j
		mine, theirs := math.Abs(s.fit.residual(blocks[at], j)), math.Abs(s.fit.residual(blocks[at], base))
		if theirs > mine+1e-6 || math.Abs(theirs-mine) <= 1e-6 && s.odder(base, j, blocks[at]) { // of two arms residuals are equal
			whose = base
		}
		out = append(out, Stall{Arm: whose, Block: blocks[at] + 1, Of: j, Effect: all, Without: without})
	}
	return out
}

// odder reports whether arm i's trial in a block is farther from arm i's other trials than arm j's is from its own,
// each against the median of its arm. That trial stalled, or was impossibly fast.
func (s *scene) odder(i, j, block int) bool {
	away := func(arm int) float64 {
		var own []float64
		for b := range s.y {
			if s.mask[b][arm] {
				own = append(own, s.y[b][arm])
			}
		}
		return math.Abs(s.y[block][arm] - median(own))
	}
	return away(i) > away(j)
}

func medianDistance(x []float64, from float64) float64 {
	out := make([]float64, len(x))
	for i := range x {
		out[i] = math.Abs(x[i] - from)
	}
	return median(out)
}

func (g grid) commonBlocks(i, j int) []int {
	var out []int
	for b := range g.y {
		if g.mask[b][i] && g.mask[b][j] {
			out = append(out, b)
		}
	}
	return out
}

// fresh: a stall in the latest block, which the next one can put into place. No
// verdict rests on such a block while there are more to come.
func fresh(all []Stall, n int) bool {
	return slices.ContainsFunc(all, func(s Stall) bool { return s.Block == n })
}

// warnStalls names the trials that carry an effect.
func (r *replay) warnStalls(look Look, add adder) {
	all := slices.Clone(look.Stalls)
	slices.SortFunc(all, func(a, b Stall) int {
		return cmp.Or(cmp.Compare(a.Block, b.Block), cmp.Compare(r.arms[a.Of].Name, r.arms[b.Of].Name))
	})
	for _, s := range all {
		add(WarnStall, "Measure one more block, and look what happened then: a stall that comes back belongs to the layout.",
			"A single trial carries the effect of %s: that of %s in block %d. With it the mean is %s, without that block %s.",
			r.arms[s.Of].Name, r.arms[s.Arm].Name, s.Block, change(s.Effect), change(s.Without))
	}
}
