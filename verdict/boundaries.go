package verdict

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"filewise/verdict/internal/boundary"
)

//go:generate go run ./internal/genboundaries

// Limits of what is simulated while the caller waits: at these sizes it takes
// minutes, at the usual ones a second or two.
const (
	maxBoundaryArms   = 64
	maxBoundaryBlocks = 500
	simulations       = 200_000
	simulationSeed    = 1
)

// Boundaries are the critical values of one design: standard errors that an
// estimate may be away from the truth, one value per look from block 3.
// They hold simultaneously over arms and looks.
type Boundaries struct {
	TwoSided []float64 `json:"two_sided"` // c₂, against the baseline
	OneSided []float64 `json:"one_sided"` // c₁, against the best
}

// at returns the critical values after block n, or NaN before the first look.
func (b Boundaries) at(n int) (two, one float64) {
	if n < FirstLook || len(b.TwoSided) == 0 {
		return math.NaN(), math.NaN()
	}
	i := min(n-FirstLook, len(b.TwoSided)-1)
	return b.TwoSided[i], b.OneSided[i]
}

// BoundariesFor returns the boundaries for a number of arms, a maximum of
// blocks and a confidence: from the tables in the code for 95 %, 2–8 arms and
// 3–30 blocks, otherwise by a simulation of 200,000 null experiments with a
// fixed seed, done once per process. It returns an error wrapping ErrConfig
// for designs that allow no look or are beyond what is simulated.
func BoundariesFor(arms, maxBlocks int, confidence float64) (Boundaries, error) {
	switch {
	case maxBlocks < FirstLook:
		return Boundaries{}, fmt.Errorf("%w: at most %d blocks: the first look is possible after block %d",
			ErrConfig, maxBlocks, FirstLook)
	case arms < 2 || arms > maxBoundaryArms || maxBlocks > maxBoundaryBlocks:
		return Boundaries{}, fmt.Errorf("%w: boundaries exist for 2–%d arms and up to %d blocks, not for %d and %d",
			ErrConfig, maxBoundaryArms, maxBoundaryBlocks, arms, maxBlocks)
	case !(confidence > 0 && confidence < 1):
		return Boundaries{}, fmt.Errorf("%w: confidence %v: must be between 0 and 1", ErrConfig, confidence)
	}
	if math.Abs(confidence-0.95) < 1e-12 {
		row, ok := referenceBoundaries[printedKey{arms, maxBlocks}]
		if !ok {
			row, ok = printedBoundaries[printedKey{arms, maxBlocks}]
		}
		if ok {
			return Boundaries{TwoSided: fromThousandths(row[0]), OneSided: fromThousandths(row[1])}, nil
		}
	}
	b := simulated(simulatedKey{arms, maxBlocks, confidence})
	return Boundaries{TwoSided: slices.Clone(b.TwoSided), OneSided: slices.Clone(b.OneSided)}, nil
}

// printedKey finds a table in the code.
type printedKey struct{ arms, maxBlocks int }

type simulatedKey struct {
	arms, maxBlocks int
	confidence      float64
}

// memo remembers simulated boundaries: a live display judges after each block.
var memo sync.Map // simulatedKey → func() Boundaries

func simulated(key simulatedKey) Boundaries {
	compute := sync.OnceValue(func() Boundaries {
		t := boundary.Simulate(key.arms, []int{key.maxBlocks}, 1-key.confidence, simulations, simulationSeed)[0]
		return Boundaries(t)
	})
	once, _ := memo.LoadOrStore(key, compute)
	return once.(func() Boundaries)()
}

func fromThousandths(row []uint16) []float64 {
	c := make([]float64, len(row))
	for i, v := range row {
		c[i] = float64(v) / 1000
	}
	return c
}
