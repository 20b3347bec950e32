package verdict

import (
	"math"
	"slices"

	"filewise/lab/verdict/internal/boundary"
)

// Constants of the robust fit (docs/statistics-rules.md, "Fit").
const (
	clipAt       = 2.5    // residuals are clipped at 2.5σ
	madToSD      = 1.4826 // of a normal distribution
	floorShare   = 0.2    // σ is at least this share of the least-squares σ
	sweeps       = 6      // of median polish
	maxIter      = 60
	scaleUpdates = 8 // σ is updated this often, then frozen, so that the fit converges
	converged    = 1e-8
	priorDF      = 4 // ν₀: weight of the pooled variance in a contrast's variance, in degrees of freedom

	huberAt   = 1.5    // rules 2: residuals are clipped at 1.5σ
	huberNorm = 0.7785 // mean square of a standard normal variable clipped at huberAt
)

// grid is a two-way table of log throughput. Mask marks the cells with a trial.
type grid struct {
	y      [][]float64 // [block][arm]
	mask   [][]bool
	width  int     // number of arms
	base   int     // the arm that contrasts are against
	column [][]int // [block][arm]: effect number of each cell, if arms have several effects
}

// armOf returns the number of the arm effect of a cell.
func (g grid) armOf(b, j int) int {
	if g.column == nil {
		return j
	}
	return g.column[b][j]
}

// twoWay is a robust fit of block and arm effects.
type twoWay struct {
	grid
	solver      *solver // nil if there is no cell
	block, arm  []float64
	pseudo      [][]float64 // block + arm + clipped residual
	clipped     [][]bool
	df          int     // ν, residual degrees of freedom; variances need ν ≥ 1
	pooled      float64 // s²
	unclipped   float64 // m
	sigma       float64
	clipAt      float64 // of σ
	leastSquare float64 // s² of the plain least-squares fit
}

// fitTwoWay fits g, with σ at least a share of the least-squares σ. It returns false if no residual degree of freedom
// is left.
func fitTwoWay(g grid, floorShare float64) (fit twoWay, ok bool) {
	f, ok := fitLeastSquares(g, clipAt)
	if !ok {
		return f, false
	}
	f.medianPolish()
	sigma := f.iterate(floorShare * math.Sqrt(f.leastSquare))
	f.finish(sigma)
	return f, true
}

// fitLeastSquares returns the start of both robust fits. It returns false if no residual degree of freedom is left.
func fitLeastSquares(g grid, clipAt float64) (f twoWay, ok bool) {
	s, ok := newSolver(g)
	if !ok {
		return f, false
	}
	f = twoWay{grid: g, solver: s, df: s.df, clipAt: clipAt}
	if s.df < 1 {
		return f, false
	}
	f.block, f.arm = s.solve(g.y)
	f.leastSquare = f.sumSquares(math.Inf(1)) / float64(f.df)
	return f, true
}

// fitHuber fits g by Huber's proposal 2: σ comes from the clipped residuals themselves. With few cells this is better
// than a σ from the residuals' median, which varies too much.
func fitHuber(g grid) (fit twoWay, ok bool) {
	f, ok := fitLeastSquares(g, huberAt)
	if !ok {
		return f, false
	}
	square := f.leastSquare
	for range maxIter {
		limit, before := huberAt*math.Sqrt(square), square
		f.makePseudo(math.Sqrt(square))
		f.block, f.arm = f.solver.solve(f.pseudo)
		square = f.sumSquares(limit) / float64(f.df) / huberNorm
		if math.Abs(square-before) <= settled*before {
			break
		}
	}
	f.finish(math.Sqrt(square))
	return f, true
}

// settled is the relative change of σ² at which fitHuber ends.
const settled = 1e-3

// iterate refits pseudo-values, in which far residuals are pulled in, until the contrasts converge. It returns the
// final σ.
func (f *twoWay) iterate(floor float64) float64 {
	cells := float64(len(f.solver.cells))
	var sigma float64
	for i := range maxIter {
		if i < scaleUpdates {
			mad := f.medianAbsResidual()
			sigma = max(madToSD*mad*math.Sqrt(cells/float64(f.df)), floor)
		}
		f.makePseudo(sigma)
		before := f.arm
		f.block, f.arm = f.solver.solve(f.pseudo)
		if i >= scaleUpdates && largestChange(before, f.arm, f.base) < converged {
			break
		}
	}
	return sigma
}

// finish computes what depends on the final effects and σ.
func (f *twoWay) finish(sigma float64) {
	f.sigma = sigma
	f.makePseudo(sigma)
	f.clipped = make([][]bool, len(f.y))
	for b := range f.clipped {
		f.clipped[b] = make([]bool, len(f.y[b]))
	}
	inside := 0
	for _, c := range f.solver.cells {
		far := math.Abs(f.of(c))
		f.clipped[c.b][c.j] = far > clipAt*sigma
		if far <= f.clipAt*sigma {
			inside++
		}
	}
	f.unclipped = max(0.5, float64(inside)/float64(len(f.solver.cells)))
	f.pooled = f.sumSquares(f.clipAt*sigma) / float64(f.df) / (f.unclipped * f.unclipped)
}

func (f *twoWay) residual(b, j int) float64 { return f.y[b][j] - f.block[b] - f.arm[f.armOf(b, j)] }

func (f *twoWay) of(c place) float64 { return f.y[c.b][c.j] - f.block[c.b] - f.arm[c.arm] }

// sumSquares returns the sum of squares of the residuals, clipped at ±limit.
func (f *twoWay) sumSquares(limit float64) float64 {
	var sum float64
	for _, c := range f.solver.cells {
		r := clip(f.of(c), limit)
		sum += r * r
	}
	return sum
}

func (f *twoWay) medianAbsResidual() float64 {
	r := make([]float64, len(f.solver.cells))
	for i, c := range f.solver.cells {
		r[i] = math.Abs(f.of(c))
	}
	return median(r)
}

func (f *twoWay) makePseudo(sigma float64) {
	if f.pseudo == nil {
		f.pseudo = newRows(len(f.y), len(f.y[0]))
	}
	for _, c := range f.solver.cells {
		f.pseudo[c.b][c.j] = f.block[c.b] + f.arm[c.arm] + clip(f.of(c), f.clipAt*sigma)
	}
}

// medianPolish sets the effects to zero and alternates medians over blocks and arms. Outliers do not affect this start.
func (f *twoWay) medianPolish() {
	f.block, f.arm = make([]float64, len(f.y)), make([]float64, f.width)
	inBlock, inArm := make([][]float64, len(f.y)), make([][]float64, f.width)
	medians := func(effects []float64, values [][]float64) {
		for i, x := range values {
			effects[i], values[i] = median(x), x[:0]
		}
	}
	for range sweeps {
		for _, c := range f.solver.cells {
			inBlock[c.b] = append(inBlock[c.b], f.y[c.b][c.j]-f.arm[c.arm])
		}
		medians(f.block, inBlock)
		for _, c := range f.solver.cells {
			inArm[c.arm] = append(inArm[c.arm], f.y[c.b][c.j]-f.block[c.b])
		}
		medians(f.arm, inArm)
	}
}

// largestChange returns the largest change of any contrast with the base.
func largestChange(before, after []float64, base int) float64 {
	var largest float64
	for j := range after {
		change := (after[j] - after[base]) - (before[j] - before[base])
		largest = max(largest, math.Abs(change))
	}
	return largest
}

func clip(r, limit float64) float64 { return max(-limit, min(limit, r)) }

// median returns the median, or 0 if x is empty. It reorders x.
func median(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	mid := len(x) / 2
	upper := boundary.NthSmallest(x, mid)
	if len(x)%2 == 1 {
		return upper
	}
	return (slices.Max(x[:mid]) + upper) / 2
}
