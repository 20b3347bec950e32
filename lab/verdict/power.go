package verdict

import (
	"fmt"
	"math"
)

// Power is the chance with which a difference is to be seen: 80 % is usual.
const Power = 0.8

// Needed is the effort to see one size of difference.
type Needed struct {
	Effect float64 `json:"effect"` // on the log scale
	Blocks int     `json:"blocks"` // at most. 0 means more than can be planned
}

// BlocksToSee is BlocksToTell for each of several differences (log scale, above 0): of so many
// blocks an arm that is faster by the difference is seen with about the same chance. Errors wrap
// ErrConfig.
func BlocksToSee(sd float64, arms int, confidence float64, effects []float64) ([]Needed, error) {
	if !(sd >= 0) || math.IsInf(sd, 0) {
		return nil, fmt.Errorf("%w: noise of %v", ErrConfig, sd)
	}
	var out []Needed
	for _, effect := range effects {
		if !(effect > 0) || math.IsInf(effect, 0) {
			return nil, fmt.Errorf("%w: an effect of %v", ErrConfig, effect)
		}
		n, err := BlocksToTell(sd, arms, confidence, effect)
		if err != nil {
			return nil, err
		}
		out = append(out, Needed{Effect: effect, Blocks: n})
	}
	return out, nil
}

// chanceSkew over the number of blocks is a skewness, as Hall's transformation takes it. A pair's few differences
// have it by chance, in the mean, to the side on which it widens the interval: the skewness of a normal sample has
// the variance 6/n.
const chanceSkew = skewWeight * 0.4 * 2.45 / 3

// printedBlocks is the last block whose boundaries are in the code.
const printedBlocks = 30

// Noise is the standard deviation of one trial within its block, on the log scale, by the robust fit of all blocks;
// false when there are too few trials to estimate it.
func (r Result) Noise() (sd float64, ok bool) {
	for i := len(r.Looks) - 1; i >= 0; i-- {
		if v := r.Looks[i].PooledVar; finite(v) {
			return math.Sqrt(v), true
		}
	}
	return 0, false
}
