package stats

import (
	"cmp"
	"slices"
)

// ascending is the order of p-values from the smallest.
func ascending(p []float64) []int {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	return order
}

func checkP(p []float64) error {
	for i, v := range p {
		if !(v >= 0 && v <= 1) {
			return inputError("p-value %d is %v", i, v)
		}
	}
	return nil
}

// Holm adjusts p-values for the chance of any false claim (Holm 1979).
func Holm(p []float64) ([]float64, error) {
	if err := checkP(p); err != nil {
		return nil, err
	}
	adjusted := make([]float64, len(p))
	floor := 0.0
	for rank, i := range ascending(p) {
		floor = max(floor, min(1, float64(len(p)-rank)*p[i]))
		adjusted[i] = floor
	}
	return adjusted, nil
}

// Bonferroni multiplies p-values by their number.
func Bonferroni(p []float64) ([]float64, error) {
	if err := checkP(p); err != nil {
		return nil, err
	}
	adjusted := make([]float64, len(p))
	for i, v := range p {
		adjusted[i] = min(1, v*float64(len(p)))
	}
	return adjusted, nil
}

// BenjaminiHochberg adjusts p-values for the share of false claims (1995).
func BenjaminiHochberg(p []float64) ([]float64, error) {
	if err := checkP(p); err != nil {
		return nil, err
	}
	adjusted := make([]float64, len(p))
	ceiling := 1.0
	order := ascending(p)
	for rank := len(order) - 1; rank >= 0; rank-- {
		i := order[rank]
		ceiling = min(ceiling, p[i]*float64(len(p))/float64(rank+1))
		adjusted[i] = ceiling
	}
	return adjusted, nil
}
