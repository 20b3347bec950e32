package stats

import "math"

// MaxSlope is the steepest slope that a calibration is allowed: throughput
// cannot depend much more than proportionally on what the probe measures.
const MaxSlope = 1.5

// Ancova is a two-way analysis of log throughput with the log of a
// calibration probe as a covariate.
type Ancova struct {
	Slope       float64   // clipped to [0, 1.5]
	Effects     []float64 // adjusted, of arms 1 … against arm 0
	SE          []float64
	MSE, DF     float64
	Correlation float64 // of throughput and calibration, within blocks and arms
}

// CalibrationAncova adjusts throughputs [block][arm] by a calibration
// measured right before each trial. A calibration that never varies adjusts
// nothing.
func CalibrationAncova(throughput, calibration [][]float64) (Ancova, error) {
	ly, err := logTable(throughput, 2, 2)
	if err != nil {
		return Ancova{}, err
	}
	lx, err := logTable(calibration, 2, 2)
	if err != nil {
		return Ancova{}, err
	}
	if len(lx) != len(ly) || len(lx[0]) != len(ly[0]) {
		return Ancova{}, inputError("the tables differ in shape")
	}
	y, x := rcb(ly), rcb(lx)
	if y.DF < 2 {
		return Ancova{}, inputError("too few blocks and arms for a slope")
	}
	var xx, xy, yy float64
	for b := range y.residual {
		for j, ry := range y.residual[b] {
			rx := x.residual[b][j]
			xx, xy, yy = xx+rx*rx, xy+rx*ry, yy+ry*ry
		}
	}
	a := Ancova{DF: y.DF - 1}
	if xx > 0 {
		a.Slope = max(0, min(MaxSlope, xy/xx))
		a.Correlation = xy / math.Sqrt(xx*yy)
		if yy == 0 {
			a.Correlation = 0
		}
	}
	a.MSE = (yy - 2*a.Slope*xy + a.Slope*a.Slope*xx) / a.DF
	for j := range y.ArmMeans[1:] {
		dx := x.ArmMeans[j+1] - x.ArmMeans[0]
		a.Effects = append(a.Effects, y.ArmMeans[j+1]-y.ArmMeans[0]-a.Slope*dx)
		leverage := 0.0
		if xx > 0 {
			leverage = dx * dx / xx
		}
		a.SE = append(a.SE, math.Sqrt(a.MSE*(2/float64(len(ly))+leverage)))
	}
	return a, nil
}
