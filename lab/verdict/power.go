package verdict

import (
	"fmt"
	"math"
)

// Power is the probability of detecting a difference that a plan aims at: 80 % is usual.
const Power = 0.8

// Needed is the number of blocks that detecting a difference takes.
type Needed struct {
	Effect float64 `json:"effect"` // on the log scale
	Blocks int     `json:"blocks"` // at most; 0 means more than can be planned
}

// BlocksToSee returns BlocksToTell for each of several differences (log scale, above 0). With that many blocks, an arm
// that is faster by the difference is detected with about the same probability. Errors wrap ErrConfig.
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

// chanceSkew, divided by the number of blocks, is a skewness as Hall's transformation takes it. A pair's few
// differences have it by chance, on average, to the side that widens the interval. The skewness of a normal sample has
// the variance 6/n.
const chanceSkew = skewWeight * 0.4 * 2.45 / 3

// printedBlocks is the largest number of blocks in the code's tables of boundaries.
const printedBlocks = 30

// Noise returns the standard deviation of one trial within its block, on the log scale, by the robust fit of all
// blocks. It returns false if there are too few trials to estimate it.
func (r Result) Noise() (sd float64, ok bool) {
	for i := len(r.Analyses) - 1; i >= 0; i-- {
		if v := r.Analyses[i].PooledVar; finite(v) {
			return math.Sqrt(v), true
		}
	}
	return 0, false
}
