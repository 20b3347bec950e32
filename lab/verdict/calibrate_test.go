package verdict

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestCalibration(t *testing.T) {
	w := world{arms: 4, blocks: 12, noise: 0.01, drift: 0.05, slow: 0.05, probe: 0.003}
	table := w.table(rand.New(rand.NewPCG(6, 6)))
	last := func() Analysis {
		analysis := newReplay(rules1(), armsOf(4), table, must(BoundariesFor(1, 4, 20, 0.95))).analyse(12)
		return analysis
	}
	with := last()
	if math.Abs(with.CalibrationSlope-1) > 0.2 {
		t.Errorf("slope %v, want about 1", with.CalibrationSlope)
	}
	table[3][2].Calibration = 0 // one is missing: nothing is adjusted
	without := last()
	if !math.IsNaN(without.CalibrationSlope) {
		t.Errorf("slope %v without all probes", without.CalibrationSlope)
	}
	if with.PooledVar > without.PooledVar/2 {
		t.Errorf("variance %v with, %v without the probe", with.PooledVar, without.PooledVar)
	}
	for j := range with.Estimates {
		if with.Estimates[j].RawEffect != without.Estimates[j].RawEffect {
			t.Error("the raw effect is adjusted")
		}
	}
}

// TestUselessProbe: a probe without information, or of one value always, adjusts next to nothing, or nothing.
func TestUselessProbe(t *testing.T) {
	table := quiet(10, 3)
	for b := range table {
		for j := range table[b] {
			table[b][j].Calibration = 7
		}
	}
	r := must(Judge(DefaultConfig(), armsOf(3), table))
	for _, analysis := range r.Analyses {
		if !math.IsNaN(analysis.CalibrationSlope) {
			t.Errorf("slope %v", analysis.CalibrationSlope)
		}
	}
}
