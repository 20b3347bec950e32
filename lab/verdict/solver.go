package verdict

import "gonum.org/v1/gonum/mat"

// solver computes least-squares fits of block and arm effects to tables that
// share one mask. Blocks are eliminated, which leaves one small positive
// definite system over the arms, factored once.
type solver struct {
	g       grid
	inBlock []float64 // cells per block
	chol    mat.Cholesky
	cells   int
	df      int // residual degrees of freedom
}

// newSolver prepares fits for the mask of g; ok is false when there is no
// cell. Arms and blocks without cells are fitted as 0.
func newSolver(g grid) (s *solver, ok bool) {
	s = &solver{g: g, inBlock: make([]float64, len(g.y))}
	inArm := make([]int, g.width)
	for b := range g.y {
		for j, present := range g.mask[b] {
			if present {
				s.inBlock[b]++
				inArm[j]++
				s.cells++
			}
		}
	}
	if s.cells == 0 {
		return nil, false
	}
	part := parts(g)
	s.df = s.cells - countAbove(s.inBlock, 0) - countAbove(inArm, 0) + countParts(part, inArm)
	return s, s.chol.Factorize(s.normalMatrix(part, inArm))
}

// normalMatrix is N_j on the diagonal less what blocks take away. A constant
// per connected part is not determined; adding a square of the part's sum
// makes it zero and the matrix invertible.
func (s *solver) normalMatrix(part, inArm []int) *mat.SymDense {
	a := mat.NewSymDense(s.g.width, nil)
	for i := range s.g.width {
		for j := i; j < s.g.width; j++ {
			if part[i] == part[j] {
				a.SetSym(i, j, 1)
			}
		}
		a.SetSym(i, i, a.At(i, i)+float64(inArm[i]))
	}
	for b, mask := range s.g.mask {
		for i := range mask {
			for j := i; mask[i] && j < len(mask); j++ {
				if mask[j] {
					a.SetSym(i, j, a.At(i, j)-1/s.inBlock[b])
				}
			}
		}
	}
	return a
}

// solve returns the least-squares block and arm effects of y.
func (s *solver) solve(y [][]float64) (block, arm []float64) {
	block, arm = make([]float64, len(y)), make([]float64, s.g.width)
	right := make([]float64, s.g.width)
	for b, mask := range s.g.mask {
		mean := s.blockMean(b, y[b], nil)
		for j, present := range mask {
			if present {
				right[j] += y[b][j] - mean
			}
		}
	}
	// The system is well conditioned by construction: its error is rounding.
	_ = s.chol.SolveVecTo(mat.NewVecDense(len(arm), arm), mat.NewVecDense(len(right), right))
	for b := range y {
		block[b] = s.blockMean(b, y[b], arm)
	}
	return block, arm
}

// blockMean of y less the arm effects, if any.
func (s *solver) blockMean(b int, y, arm []float64) float64 {
	if s.inBlock[b] == 0 {
		return 0
	}
	var sum float64
	for j, present := range s.g.mask[b] {
		if present {
			sum += y[j]
			if arm != nil {
				sum -= arm[j]
			}
		}
	}
	return sum / s.inBlock[b]
}

// parts labels arms that are connected through common blocks.
func parts(g grid) []int {
	part := make([]int, g.width)
	for j := range part {
		part[j] = j
	}
	for _, mask := range g.mask {
		first := -1
		for j, present := range mask {
			switch {
			case present && first < 0:
				first = j
			case present:
				relabel(part, part[j], part[first])
			}
		}
	}
	return part
}

func relabel(part []int, from, to int) {
	for j := range part {
		if part[j] == from {
			part[j] = to
		}
	}
}

// countParts counts the parts that have cells.
func countParts(part, inArm []int) int {
	seen := map[int]bool{}
	for j, p := range part {
		if inArm[j] > 0 {
			seen[p] = true
		}
	}
	return len(seen)
}

func countAbove[T int | float64](x []T, limit T) int {
	n := 0
	for _, v := range x {
		if v > limit {
			n++
		}
	}
	return n
}

// residualSS is the residual sum of squares of the least-squares fit to y.
func (s *solver) residualSS(y [][]float64) float64 {
	block, arm := s.solve(y)
	var sum float64
	each(s.g, func(b, j int) {
		r := y[b][j] - block[b] - arm[j]
		sum += r * r
	})
	return sum
}
