package stats

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// Series describes the dependence within a series of slices.
type Series struct {
	Lag1       float64   // autocorrelation
	Effective  float64   // independent values that are worth as much, if AR(1)
	BatchMeans []float64 // of consecutive whole batches
	SEBatch    float64   // of the mean, from batch means: holds under dependence
	SENaive    float64   // of the mean, as if independent
}

// Autocorrelation describes a series, with batches of the given size; there
// must be two whole ones. A constant series has Lag1 0.
func Autocorrelation(x []float64, batch int) (Series, error) {
	if batch < 1 {
		return Series{}, inputError("batches of %d values", batch)
	}
	if err := checkSample(x, 2*batch); err != nil {
		return Series{}, err
	}
	if err := checkSample(x, 2); err != nil {
		return Series{}, err
	}
	n := float64(len(x))
	mean, sd := stat.MeanStdDev(x, nil)
	var products float64
	for i := range len(x) - 1 {
		products += (x[i] - mean) * (x[i+1] - mean)
	}
	var s Series
	if sd > 0 {
		s.Lag1 = products / sumSquares(x)
	}
	s.Effective = n * (1 - s.Lag1) / (1 + s.Lag1)
	s.SENaive = sd / math.Sqrt(n)
	s.BatchMeans = batches(x, batch)
	s.SEBatch = stat.StdDev(s.BatchMeans, nil) / math.Sqrt(float64(len(s.BatchMeans)))
	return s, nil
}

// SteadyState is Trends of a complete table, [block][arm].
func SteadyState(g [][]float64, alpha float64) (trends []Trend, critical float64, err error) {
	if err := checkTable(g, 2, 1); err != nil {
		return nil, 0, err
	}
	if !(alpha > 0 && alpha < 1) {
		return nil, 0, inputError("alpha %v", alpha)
	}
	columns := make([][]float64, len(g[0]))
	for j := range columns {
		for b := range g {
			columns[j] = append(columns[j], g[b][j])
		}
	}
	return Trends(columns, alpha)
}
