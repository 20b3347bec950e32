package verdict

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"
)

// lastBoundaries returns the last boundaries of a plan of that many blocks. Beyond 30 blocks the last boundary hardly
// changes, so it returns the last of 30.
func lastBoundaries(arms, blocks int, confidence float64) (c contrast, two, one float64, err error) {
	at := max(min(blocks, printedBlocks), rulesOf(NewestRules).First(arms))
	b, err := BoundariesFor(NewestRules, arms, at, confidence)
	if err != nil {
		return c, 0, 0, err
	}
	rules := rulesOf(NewestRules)
	c = contrast{variance: 1, df: rules.DF(max(blocks, at), arms)}
	two, one = b.at(at)
	if arms < rules.Pooled {
		c.skew = -chanceSkew / float64(at)
		two, one = b.ownAt(at)
	}
	return c, two, one, nil
}

// HalfWidth returns about half the width, on the log scale, of each arm's interval against the baseline after all
// blocks of a plan. Sd is the standard deviation of one trial within its block. Errors wrap ErrConfig.
func HalfWidth(sd float64, arms, blocks int, confidence float64) (float64, error) {
	c, two, _, err := lastBoundaries(arms, blocks, confidence)
	if err != nil {
		return 0, err
	}
	return (c.below(two) + c.above(two)) / 2 * sd * math.Sqrt(2/float64(blocks)), nil
}

// BlocksToTell returns the number of blocks to plan so that the baseline can be kept with a probability of 80 %, if
// nothing differs. That is, no arm can then be better than the baseline by more than the margin (log scale). It is the
// smallest n with
//
//	n ≥ 2·s²·(c₁(n) + z)² / δ²
//
// where s is the standard deviation of one trial within its block, and c₁ the one-sided boundary of the last analysis. With
// k comparisons, z is the normal quantile of the k-th root of that probability. It returns 0 if more blocks are needed
// than can be planned. Errors wrap ErrConfig.
func BlocksToTell(sd float64, arms int, confidence, margin float64) (int, error) {
	first := rulesOf(NewestRules).First(arms)
	var failed error
	n := first + sort.Search(maxPlannedBlocks-first+1, func(i int) bool { // the need falls with every block
		kept, err := MarginKept(sd, arms, first+i, confidence)
		if err != nil {
			failed = err
			return true
		}
		return kept <= margin
	})
	if n > maxPlannedBlocks || failed != nil {
		n = 0
	}
	return n, failed
}

// MarginKept returns the margin (log scale) within which that many blocks keep the baseline with a probability of 80 %,
// if nothing differs. It is the inverse of BlocksToTell. Errors wrap ErrConfig.
func MarginKept(sd float64, arms, blocks int, confidence float64) (float64, error) {
	c, _, one, err := lastBoundaries(arms, blocks, confidence)
	if err != nil {
		return 0, err
	}
	z := distuv.UnitNormal.Quantile(math.Pow(Power, 1/float64(arms-1)))
	return sd * (c.above(one) + z) * math.Sqrt(2/float64(blocks)), nil
}
