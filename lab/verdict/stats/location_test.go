package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// HyperfineOutlier is the |modified z| above which hyperfine warns of an
// outlier (14.826 = 10/Φ⁻¹(¾), on deviations divided by the plain MAD).
const HyperfineOutlier = 14.826

// Location describes a sample robustly.
type Location struct {
	Median, MAD  float64
	MADSD        float64 // 1.4826·MAD: the standard deviation of a normal with this MAD
	Q1, Q3       float64
	Fences       Interval // Tukey's: 1.5 interquartile ranges beyond the quartiles
	SevereFences Interval // 3 interquartile ranges
	TrimmedMean  float64  // without a tenth (rounded down) at each end
	DropOneMean  float64  // without the least and the largest value, if there are three
	ModifiedZ    []float64
}

// Describe describes a sample of at least one value. Without spread the
// modified z are 0 at the median and ±Inf elsewhere.
func Describe(x []float64) (Location, error) {
	if err := checkSample(x, 1); err != nil {
		return Location{}, err
	}
	sorted := slices.Sorted(slices.Values(x))
	l := Location{Median: Quantile(sorted, 0.5), Q1: Quantile(sorted, 0.25), Q3: Quantile(sorted, 0.75)}
	deviations := make([]float64, len(x))
	for i, v := range sorted {
		deviations[i] = math.Abs(v - l.Median)
	}
	slices.Sort(deviations)
	l.MAD = Quantile(deviations, 0.5)
	l.MADSD = 1.4826 * l.MAD
	iqr := l.Q3 - l.Q1
	l.Fences = Interval{l.Q1 - 1.5*iqr, l.Q3 + 1.5*iqr}
	l.SevereFences = Interval{l.Q1 - 3*iqr, l.Q3 + 3*iqr}
	l.TrimmedMean = trimmed(sorted, len(x)/10)
	l.DropOneMean = trimmed(sorted, 1)
	for _, v := range x {
		z := 0.0
		if v != l.Median {
			z = (v - l.Median) / l.MAD
		}
		l.ModifiedZ = append(l.ModifiedZ, z)
	}
	return l, nil
}

// trimmed mean without n values at each end, if any are left.
func trimmed(sorted []float64, n int) float64 {
	if 2*n >= len(sorted) {
		n = 0
	}
	return stat.Mean(sorted[n:len(sorted)-n], nil)
}
