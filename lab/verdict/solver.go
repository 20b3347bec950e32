package verdict

import "gonum.org/v1/gonum/mat"

// solver computes least-squares fits of block and arm effects to tables that share one mask. It eliminates the effects
// of one side. That leaves one positive definite system over the other side, which is factored once.
type solver struct {
	g          grid
	cells      []place
	blocksStay bool
	kept, gone int       // number of effects that stay in the system, and that are eliminated
	inGone     []float64 // cells per eliminated effect
	chol       mat.Cholesky
	df         int // residual degrees of freedom
}

// place is the position of a cell, with the number of its arm effect.
type place struct{ b, j, arm int32 }

// sides returns a cell's two effects, block and arm: first the effect that stays in the system, then the eliminated one.
func (s *solver) sides(c place) (kept, gone int32) {
	if s.blocksStay {
		return c.b, c.arm
	}
	return c.arm, c.b
}

// widest is the largest number of arms of a system. If there are more, and fewer blocks than arms, the system is over
// the blocks.
const widest = 512

// newSolver prepares fits for the mask of g. It returns false if there is no cell. Arms and blocks without cells are
// fitted as 0.
func newSolver(g grid) (s *solver, ok bool) {
	s = &solver{g: g, kept: g.width, gone: len(g.y), blocksStay: g.width > max(widest, len(g.y))}
	if s.blocksStay {
		s.kept, s.gone = s.gone, s.kept
	}
	s.inGone = make([]float64, s.gone)
	inKept, members := make([]int, s.kept), make([][]int, s.gone)
	s.cells = make([]place, 0, g.cells())
	each(g, func(b, j int) {
		c := place{int32(b), int32(j), int32(g.armOf(b, j))}
		kept, gone := s.sides(c)
		s.inGone[gone]++
		inKept[kept]++
		members[gone] = append(members[gone], int(kept))
		s.cells = append(s.cells, c)
	})
	if len(s.cells) == 0 {
		return nil, false
	}
	part := parts(members, s.kept)
	s.df = len(s.cells) - countAbove(s.inGone, 0) - countAbove(inKept, 0) + countParts(part, inKept)
	return s, s.chol.Factorize(s.normalMatrix(members, part, inKept))
}

// normalMatrix returns the matrix of the system: the number of cells on the diagonal, minus what the eliminated effects
// take away. It leaves a constant per connected part undetermined. Adding the square of the part's sum sets that
// constant to zero and makes the matrix invertible.
func (s *solver) normalMatrix(members [][]int, part, inKept []int) *mat.SymDense {
	a := make([]float64, s.kept*s.kept) // only the upper triangle counts
	for i := range s.kept {
		for j := i; j < s.kept; j++ {
			if part[i] == part[j] {
				a[i*s.kept+j] = 1
			}
		}
		a[i*s.kept+i] += float64(inKept[i])
	}
	for e, all := range members {
		share := 1 / s.inGone[e]
		for n, i := range all {
			for _, j := range all[n:] {
				a[min(i, j)*s.kept+max(i, j)] -= share
			}
		}
	}
	return mat.NewSymDense(s.kept, a)
}

// solve returns the least-squares block and arm effects of y.
func (s *solver) solve(y [][]float64) (block, arm []float64) {
	kept, gone, right := make([]float64, s.kept), make([]float64, s.gone), make([]float64, s.kept)
	for _, c := range s.cells {
		_, e := s.sides(c)
		gone[e] += y[c.b][c.j]
	}
	s.means(gone)
	for _, c := range s.cells {
		k, e := s.sides(c)
		right[k] += y[c.b][c.j] - gone[e]
	}
	// The system is well conditioned by construction, so its error is rounding.
	_ = s.chol.SolveVecTo(mat.NewVecDense(s.kept, kept), mat.NewVecDense(s.kept, right))
	clear(gone)
	for _, c := range s.cells {
		k, e := s.sides(c)
		gone[e] += y[c.b][c.j]
		gone[e] -= kept[k]
	}
	s.means(gone)
	if s.blocksStay {
		return kept, gone
	}
	return gone, kept
}

// means divides the sums of eliminated effects by their numbers of cells.
func (s *solver) means(sums []float64) {
	for e, n := range s.inGone {
		if n > 0 {
			sums[e] /= n
		}
	}
}

// parts labels the arms that are connected through common blocks, or the blocks connected through common arms.
func parts(members [][]int, kept int) []int {
	part := make([]int, kept)
	for j := range part {
		part[j] = j
	}
	for _, all := range members {
		for _, j := range all {
			if part[j] != part[all[0]] {
				relabel(part, part[j], part[all[0]])
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
func countParts(part, inKept []int) int {
	seen := map[int]bool{}
	for j, p := range part {
		if inKept[j] > 0 {
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

// residualSS returns the residual sum of squares of the least-squares fit to y.
func (s *solver) residualSS(y [][]float64) float64 {
	block, arm := s.solve(y)
	var sum float64
	for _, c := range s.cells {
		r := y[c.b][c.j] - block[c.b] - arm[c.arm]
		sum += r * r
	}
	return sum
}

// indicators returns, for sets of cells, the indicator of each set without the means of blocks, summed by arm. Fit
// holds the arm effects fitted to it. Both have a column per set; arms must stay in the system. Number returns the set
// of a cell, or −1. Visit is called for each block with its sets, and how many of the block's cells are in each set.
func (s *solver) indicators(number func(b, j int) int, sets int, visit func(b int, has []int, cells []float64)) (sums, fit *mat.Dense) {
	sums, fit = mat.NewDense(s.kept, sets, nil), new(mat.Dense)
	cells, has := make([]float64, sets), []int(nil)
	for b, mask := range s.g.mask {
		has = has[:0]
		for j, present := range mask {
			if k := number(b, j); present && k >= 0 {
				if cells[k] == 0 {
					has = append(has, k)
				}
				cells[k]++
				sums.Set(j, k, sums.At(j, k)+1)
			}
		}
		visit(b, has, cells)
		for _, k := range has {
			for j, present := range mask {
				if present {
					sums.Set(j, k, sums.At(j, k)-cells[k]/s.inGone[b])
				}
			}
			cells[k] = 0
		}
	}
	_ = s.chol.SolveTo(fit, sums)
	return sums, fit
}
