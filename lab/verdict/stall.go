package verdict

import (
	"cmp"
	"math"
	"slices"
)

// Thresholds for a stalled trial. Its distance from its arm's other trials is at least stallTimes their usual distance,
// and stallLeast on the log scale. Distances are relative to the baseline's trial in the same block. An arm needs
// stallFrom common blocks.
const (
	stallTimes = 8
	stallLeast = 0.10
	stallFrom  = 4 // common blocks
)

// Stall is a single trial that carries an effect: without the trial, the effect is a different one.
type Stall struct {
	Arm     int     `json:"arm"`   // arm of the trial; the baseline's trial may carry any arm's effect
	Block   int     `json:"block"` // counted from 1
	Of      int     `json:"of"`    // arm whose effect the trial carries
	Effect  float64 `json:"effect"`
	Without float64 `json:"without"` // the effect without that block
}

// stalls returns, for each running arm, a trial that is far from all others and carries the arm's effect.
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
		if theirs > mine+1e-6 || math.Abs(theirs-mine) <= 1e-6 && s.odder(base, j, blocks[at]) { // with two arms their residuals are equal
			whose = base
		}
		out = append(out, Stall{Arm: whose, Block: blocks[at] + 1, Of: j, Effect: all, Without: without})
	}
	return out
}

// odder reports whether arm i's trial in a block is farther from arm i's median than arm j's trial is from arm j's
// median. That trial stalled, or was impossibly fast.
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

// fresh reports whether there is a stall in the latest block, which the next block can explain. While blocks are left,
// no verdict rests on such a block.
func fresh(all []Stall, n int) bool {
	return slices.ContainsFunc(all, func(s Stall) bool { return s.Block == n })
}

// warnStalls warns of the trials that carry an effect.
func (r *replay) warnStalls(analysis Analysis, add adder) {
	all := slices.Clone(analysis.Stalls)
	slices.SortFunc(all, func(a, b Stall) int {
		return cmp.Or(cmp.Compare(a.Block, b.Block), cmp.Compare(r.arms[a.Of].Name, r.arms[b.Of].Name))
	})
	for _, s := range all {
		add(WarnStall, "Measure one more block, and check what happened then: a stall that comes back belongs to the layout.",
			"A single trial carries the effect of %s: the trial of %s in block %d. With that block the mean is %s, without it %s.",
			r.arms[s.Of].Name, r.arms[s.Arm].Name, s.Block, change(s.Effect), change(s.Without))
	}
}
