package verdict

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Change is the change of one arm's throughput from one experiment to another, on the log scale.
type Change struct {
	Arm    string  `json:"arm"`
	Before int     `json:"trials_before"`
	After  int     `json:"trials_after"`
	Effect float64 `json:"effect"`
	SE     float64 `json:"se"`
	Lo     float64 `json:"lo"` // simultaneous over all arms
	Hi     float64 `json:"hi"`
	// Relative is the change of the arm's difference from the baseline. It does not include what the two experiments'
	// machines did to all layouts equally. It is NaN for the baseline.
	Relative   float64 `json:"relative_effect"`
	RelativeLo float64 `json:"relative_lo"`
	RelativeHi float64 `json:"relative_hi"`
	// Levels holds the geometric means of throughput before and after, in the table's unit.
	Levels [2]float64 `json:"levels"`
}

// Resolved reports whether the interval excludes zero change.
func (c Change) Resolved() bool { return c.Lo > 0 || c.Hi < 0 }

// Sample holds the trials of one experiment, for a comparison with another experiment.
type Sample struct {
	Arms  []Arm
	Table Table
}

// Compare compares two experiments arm by arm, for the arms that both have. Base is the name of the baseline. The
// intervals hold with the confidence for all arms together (Bonferroni). The relative intervals also hold together,
// separately from these.
//
// Trials of two experiments share no blocks. So the comparison is Welch's test on the pseudo-values of the robust fit
// of the logarithms. On a machine that drifts, neighbouring blocks resemble each other. So the size of a sample counts
// as n(1−r)/(1+r), at least 2, if r, the lag-1 autocorrelation, is above 0 (the effective size of an AR(1) series). If
// the machine changed between the experiments, no statistics can separate that from the intended change.
//
// Errors wrap ErrTable or ErrConfig, for example if no common arm has three trials in both experiments.
func Compare(before, after Sample, base string, confidence float64) ([]Change, error) {
	if !(confidence > 0 && confidence < 1) {
		return nil, fmt.Errorf("%w: confidence %v: must be between 0 and 1", ErrConfig, confidence)
	}
	a, err := before.levels()
	if err != nil {
		return nil, fmt.Errorf("before: %w", err)
	}
	b, err := after.levels()
	if err != nil {
		return nil, fmt.Errorf("after: %w", err)
	}
	var out []Change
	for _, arm := range before.Arms {
		if len(a.values[arm.Name]) >= FirstAnalysis && len(b.values[arm.Name]) >= FirstAnalysis {
			out = append(out, Change{Arm: arm.Name, Before: len(a.values[arm.Name]), After: len(b.values[arm.Name])})
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w: no layout has %d trials or more in both", ErrTable, FirstAnalysis)
	}
	tail := (1 - confidence) / 2 / float64(len(out))
	relatives := (1 - confidence) / 2 / float64(max(len(out)-1, 1))
	for i := range out {
		c := &out[i]
		x, y := centreOf(a.values[c.Arm]), centreOf(b.values[c.Arm])
		c.Levels = [2]float64{math.Exp(x.mean), math.Exp(y.mean)}
		c.Effect, c.SE, c.Lo, c.Hi = welch(x, y, tail)
		c.Relative, c.RelativeLo, c.RelativeHi = math.NaN(), math.NaN(), math.NaN()
		if c.Arm != base {
			c.Relative, _, c.RelativeLo, c.RelativeHi = welch(centreOf(a.against(c.Arm, base)), centreOf(b.against(c.Arm, base)), relatives)
		}
	}
	return out, nil
}

// levels holds the pseudo-values of an experiment's arms.
type levels struct {
	values map[string][]float64       // in the order of blocks
	at     map[string]map[int]float64 // by block
}

func (s Sample) levels() (levels, error) {
	if err := s.Table.check(len(s.Arms)); err != nil {
		return levels{}, err
	}
	l := levels{map[string][]float64{}, map[string]map[int]float64{}}
	g := newReplay(Config{}, s.Arms, s.Table, Boundaries{}).grid(len(s.Table))
	y := g.y
	if fit, ok := fitTwoWay(g, floorShare); ok {
		y = fit.pseudo
	}
	each(g, func(b, j int) {
		name := s.Arms[j].Name
		l.values[name] = append(l.values[name], y[b][j])
		if l.at[name] == nil {
			l.at[name] = map[int]float64{}
		}
		l.at[name][b] = y[b][j]
	})
	return l, nil
}

// against returns the differences of two arms in the blocks that have both.
func (l levels) against(arm, base string) []float64 {
	var out []float64
	for b := 0; len(out) < min(len(l.at[arm]), len(l.at[base])) && b <= maxBoundaryBlocks; b++ {
		x, ok1 := l.at[arm][b]
		y, ok2 := l.at[base][b]
		if ok1 && ok2 {
			out = append(out, x-y)
		}
	}
	return out
}

// centre is a mean with its variance and the effective size of the sample.
type centre struct{ mean, variance, size float64 }

// centreOf returns the centre of a series. With fewer than two values its mean and variance are NaN.
func centreOf(x []float64) centre {
	if len(x) < 2 {
		return centre{math.NaN(), math.NaN(), 0}
	}
	mean, variance := stat.MeanVariance(x, nil)
	var products, squares float64
	for i, v := range x {
		squares += (v - mean) * (v - mean)
		if i > 0 {
			products += (v - mean) * (x[i-1] - mean)
		}
	}
	n := float64(len(x))
	size := n
	if squares > 0 && products > 0 {
		r := products / squares
		size = max(2, n*(1-r)/(1+r))
	}
	return centre{mean, variance, size}
}

// welch returns after minus before with its interval, by Welch and Satterthwaite.
func welch(before, after centre, tail float64) (effect, se, lo, hi float64) {
	va, vb := before.variance/before.size, after.variance/after.size
	effect, se = after.mean-before.mean, math.Sqrt(va+vb)
	if !finite(se) {
		return effect, math.NaN(), math.NaN(), math.NaN()
	}
	if se == 0 {
		return effect, 0, effect, effect
	}
	a, b := va/(va+vb), vb/(va+vb)
	df := 1 / (a*a/(before.size-1) + b*b/(after.size-1))
	half := distuv.StudentsT{Sigma: 1, Nu: df}.Quantile(1-tail) * se
	return effect, se, effect - half, effect + half
}
