package verdict

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

func sampleOf(random *rand.Rand, blocks int, effects []float64, noise, drift float64) Sample {
	s := Sample{Arms: armsOf(len(effects))}
	state := drift * random.NormFloat64()
	for range blocks {
		state = 0.7*state + math.Sqrt(1-0.49)*drift*random.NormFloat64()
		var row []Cell
		for _, e := range effects {
			row = append(row, Cell{Throughput: 1000 * math.Exp(e+state+noise*random.NormFloat64()), OK: true})
		}
		s.Table = append(s.Table, row)
	}
	return s
}

// The intervals hold the planted changes of all arms together, with and without drift; and so do the intervals of the
// differences from the baseline.
func TestCompareHolds(t *testing.T) {
	if testing.Short() {
		t.Skip("a simulation")
	}
	const sims = 400
	before, after := []float64{0, 0.05, 0.10}, []float64{0.20, 0.25, 0.24}
	for _, drift := range []float64{0, 0.02} {
		missed, missedRelative := 0, 0
		for seed := range uint64(sims) {
			random := rand.New(rand.NewPCG(21, seed))
			changes := must(Compare(sampleOf(random, 12, before, 0.02, drift), sampleOf(random, 15, after, 0.02, drift), "1 file", 0.95))
			out, outRelative := false, false
			for j, c := range changes {
				truth := after[j] - before[j]
				out = out || truth < c.Lo || truth > c.Hi
				outRelative = outRelative || j > 0 && (truth-0.20 < c.RelativeLo || truth-0.20 > c.RelativeHi)
			}
			if out {
				missed++
			}
			if outRelative {
				missedRelative++
			}
		}
		// A lag of 12 values underestimates itself: drift costs some coverage.
		most := 0.075 + 5*drift
		if share := float64(missed) / sims; share > most {
			t.Errorf("drift %v: %.1f %% of intervals miss the change", drift, 100*share)
		}
		if share := float64(missedRelative) / sims; share > 0.085 {
			t.Errorf("drift %v: %.1f %% of relative intervals miss the change", drift, 100*share)
		}
	}
}

func TestCompareFindsChange(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	changes := must(Compare(sampleOf(random, 10, []float64{0, 0.1}, 0.01, 0), sampleOf(random, 10, []float64{0.1, 0.1}, 0.01, 0), "1 file",
		0.95))
	if len(changes) != 2 || !changes[0].Resolved() || changes[1].Resolved() || !(changes[1].RelativeHi < 0) ||
		!math.IsNaN(changes[0].Relative) {
		t.Errorf("%+v", changes)
	}
}

// Comparing the other way round turns every sign, and the unit is nothing to it.
func TestCompareIsSymmetric(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	a, b := sampleOf(random, 9, []float64{0, 0.1}, 0.02, 0.01), sampleOf(random, 11, []float64{0.1, 0.1}, 0.02, 0.01)
	forth, back := must(Compare(a, b, "1 file", 0.9)), must(Compare(b, a, "1 file", 0.9))
	for _, row := range append(append(Table{}, a.Table...), b.Table...) {
		for j := range row {
			row[j].Throughput *= 7
		}
	}
	scaled := must(Compare(a, b, "1 file", 0.9))
	for i := range forth {
		if math.Abs(forth[i].Effect+back[i].Effect) > 1e-9 || math.Abs(forth[i].Lo+back[i].Hi) > 1e-9 ||
			math.Abs(forth[i].Effect-scaled[i].Effect) > 1e-9 {
			t.Errorf("%+v, %+v, %+v", forth[i], back[i], scaled[i])
		}
	}
}

func TestCompareRefuses(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	s := sampleOf(random, 2, []float64{0, 0}, 0.02, 0)
	if _, err := Compare(s, s, "1 file", 0.95); !errors.Is(err, ErrTable) {
		t.Errorf("two blocks: %v", err)
	}
	if _, err := Compare(s, s, "1 file", 95); !errors.Is(err, ErrConfig) {
		t.Errorf("a confidence of 95: %v", err)
	}
}
