package verdict

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// carryLevel is how unlikely the differences between what ran before must be by
// chance for a verdict to be withheld.
const carryLevel = 0.01

// carriesOver tests whether a trial's throughput depends on which arm ran just before
// it: an F test of the residuals of the fit, pulled in where they are far off, between
// the arms that went before. It needs the order of all trials; without it, false.
func (s *scene) carriesOver() bool {
	if !s.fitted {
		return false
	}
	sum, n := make([]float64, s.width), make([]float64, s.width)
	var square, before float64
	cells := s.inOrder()
	for i := 1; i < len(cells); i++ {
		b, j := cells[i].block, cells[i].arm
		r := s.fit.pseudo[b][j] - s.fit.block[b] - s.fit.arm[j]
		at := cells[i-1].arm
		sum[at], n[at], square = sum[at]+r, n[at]+1, square+r*r
	}
	groups := 0
	for j := range sum {
		if n[j] > 0 {
			before += sum[j] * sum[j] / n[j]
			groups++
		}
	}
	d1, d2 := float64(groups-1), float64(s.fit.df-groups+1)
	if d1 < 1 || d2 < 1 || square-before < rounding {
		return false
	}
	f := before / d1 / ((square - before) / d2)
	return distuv.F{D1: d1, D2: d2}.Survival(f) < carryLevel
}

// ordered is a cell by the order in which trials ran.
type ordered struct{ block, arm, order int }

// inOrder are the cells in the order in which they ran; none when it is not known of
// all of them.
func (s *scene) inOrder() []ordered {
	var cells []ordered
	known := true
	each(s.grid, func(b, j int) {
		known = known && s.table[b][j].Order > 0
		cells = append(cells, ordered{b, j, s.table[b][j].Order})
	})
	if !known {
		return nil
	}
	slices.SortFunc(cells, func(x, y ordered) int { return cmp.Compare(x.order, y.order) })
	return cells
}
