//go:build linux

package main

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestExcess: among equal settings, the recommended one costs no time over the best. If one setting takes 5 % longer,
// the excess is 5 %.
func TestExcess(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	times := make([][]float64, 16)
	for i := range times {
		for range 400 {
			times[i] = append(times[i], r.NormFloat64()*0.05)
		}
	}
	for _, longer := range []float64{0, 5} {
		slow := make([]float64, len(times[3]))
		for i, x := range times[3] {
			slow[i] = x + math.Log1p(longer/100)
		}
		got, pm, _ := excess(append([][]float64{slow}, times...), 0)
		if math.Abs(got-longer) > 3*pm || pm > 0.5 {
			t.Errorf("%.2f ±%.2f %%, not %v", got, pm, longer)
		}
	}
}
