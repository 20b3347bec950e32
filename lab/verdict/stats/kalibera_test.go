package stats

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// Levels splits variance by where it arises: between restarts (or builds) and
// between slices within them.
type Levels struct {
	Within  float64 // T₁²: mean variance of slices within a restart
	OfMeans float64 // S₂²: variance of restart means
	Between float64 // T₂² = S₂² − T₁²/slices; negative means none to be seen
}

// KaliberaJones splits the variance of data [restart][slice], two of each at
// least (Kalibera & Jones 2013).
func KaliberaJones(data [][]float64) (Levels, error) {
	if err := checkTable(data, 2, 2); err != nil {
		return Levels{}, err
	}
	var l Levels
	means := make([]float64, len(data))
	for i, row := range data {
		mean, variance := stat.MeanVariance(row, nil)
		means[i] = mean
		l.Within += variance / float64(len(data))
	}
	l.OfMeans = stat.Variance(means, nil)
	l.Between = l.OfMeans - l.Within/float64(len(data[0]))
	return l, nil
}

// Slices per restart that give the narrowest interval for the time spent,
// √(cost of a restart/cost of a slice · T₁²/T₂²), before rounding up to a
// whole one; +Inf when restarts do not differ. Costs in any one unit.
func (l Levels) Slices(restartCost, sliceCost float64) (float64, error) {
	if !(restartCost > 0 && sliceCost > 0) {
		return 0, inputError("costs %v and %v must be above 0", restartCost, sliceCost)
	}
	if l.Between <= 0 {
		return math.Inf(1), nil
	}
	return math.Sqrt(restartCost / sliceCost * l.Within / l.Between), nil
}
