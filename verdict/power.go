package verdict

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Power is the chance with which a difference is to be seen: 80 % is usual.
const Power = 0.8

// Needed is what it takes to see one size of difference.
type Needed struct {
	Effect float64 `json:"effect"` // on the log scale
	Blocks int     `json:"blocks"` // at most; 0: more than can be planned
}

// BlocksToSee says how many blocks at most have to be planned so that a difference
// of each of the effects (log scale, above 0) from the baseline is seen with a
// chance of 80 %: the smallest n with
//
//	n ≥ 2·s²·(c₂(n) + z)² / effect²
//
// where s is the standard deviation of one trial within its block, c₂(n) the last
// boundary of a design with n blocks, and z the normal quantile of the chance
// (Jennison and Turnbull 2000, ch. 9, with the boundary of the last look in the
// place of the fixed-sample critical value; STATISTICS.md's forecast is the same
// with z = 0). It is on the safe side, for a look before the last may see it.
//
// Beyond 30 blocks the last boundary hardly moves and that of 30 stands for it; it
// does so for all n where boundaries are not in the code but simulated, which takes
// seconds each. Errors wrap ErrConfig.
func BlocksToSee(sd float64, arms int, confidence float64, effects []float64) ([]Needed, error) {
	if !(sd >= 0) || math.IsInf(sd, 0) {
		return nil, fmt.Errorf("%w: noise of %v", ErrConfig, sd)
	}
	z := distuv.UnitNormal.Quantile(Power)
	var out []Needed
	for _, effect := range effects {
		if !(effect > 0) || math.IsInf(effect, 0) {
			return nil, fmt.Errorf("%w: an effect of %v", ErrConfig, effect)
		}
		n := rulesOf(NewestRules).FirstClaim(maxBoundaryBlocks, arms)
		for n <= maxBoundaryBlocks {
			at := min(n, printedBlocks)
			if _, ok := printed(NewestRules, arms, at); !ok || math.Abs(confidence-0.95) > 1e-12 {
				at = printedBlocks
			}
			b, err := BoundariesFor(NewestRules, arms, at, confidence)
			if err != nil {
				return nil, err
			}
			rules := rulesOf(NewestRules)
			last, two := contrast{variance: 1, df: rules.DF(at, arms)}, b.TwoSided
			if arms < rules.Pooled {
				last.skew, two = -chanceSkew/float64(at), b.OwnTwoSided
			}
			c := last.below(two[len(two)-1]) + z
			want := math.Ceil(2 * sd * sd * c * c / (effect * effect))
			if want <= float64(n) {
				break
			}
			if n >= printedBlocks { // the boundary stands still: so does the need
				n = int(min(want, maxBoundaryBlocks+1))
				break
			}
			n++
		}
		if n > maxBoundaryBlocks {
			n = 0
		}
		out = append(out, Needed{Effect: effect, Blocks: n})
	}
	return out, nil
}

// chanceSkew over the number of blocks is the skewness that a pair's few differences have by
// chance to the side on which it widens the interval, in the mean, as Hall's transformation
// takes it: that of a normal sample has the variance 6/n.
const chanceSkew = skewWeight * 0.4 * 2.45 / 3

// printedBlocks is up to where boundaries are in the code.
const printedBlocks = 30

// Noise is the standard deviation of one trial within its block, on the log scale,
// by the robust fit of all blocks; false when there are too few trials to tell.
func (r Result) Noise() (sd float64, ok bool) {
	for i := len(r.Looks) - 1; i >= 0; i-- {
		if v := r.Looks[i].PooledVar; finite(v) {
			return math.Sqrt(v), true
		}
	}
	return 0, false
}
