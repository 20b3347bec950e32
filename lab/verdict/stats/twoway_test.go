package stats

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// TwoWay is a least-squares fit of blocks and arms.
type TwoWay struct {
	Effects []float64 // of arms 1 … against arm 0, log scale
	SE      []float64
	MSE     float64
	DF      float64
}

// IncompleteTwoWay fits throughputs [block][arm] of which some are missing
// (NaN). It returns an error when what is left does not determine the
// effects, or leaves no degree of freedom.
func IncompleteTwoWay(throughput [][]float64) (TwoWay, error) {
	if len(throughput) < 2 || len(throughput[0]) < 2 {
		return TwoWay{}, inputError("a table of at least 2 blocks and 2 arms is needed")
	}
	blocks, arms := len(throughput), len(throughput[0])
	var rows, y []float64
	width := blocks + arms - 1
	for b, row := range throughput {
		if len(row) != arms {
			return TwoWay{}, inputError("block %d has %d values, block 0 has %d", b, len(row), arms)
		}
		for j, v := range row {
			if math.IsNaN(v) {
				continue
			}
			if !(v > 0) || math.IsInf(v, 0) {
				return TwoWay{}, inputError("block %d, arm %d: %v", b, j, v)
			}
			x := make([]float64, width)
			x[b] = 1
			if j > 0 {
				x[blocks+j-1] = 1
			}
			rows = append(rows, x...)
			y = append(y, math.Log(v))
		}
	}
	if len(y) <= width {
		return TwoWay{}, inputError("%d values for %d effects", len(y), width)
	}
	return leastSquares(mat.NewDense(len(y), width, rows), mat.NewVecDense(len(y), y), blocks)
}

// leastSquares keeps the effects from the given column on.
func leastSquares(x *mat.Dense, y *mat.VecDense, from int) (TwoWay, error) {
	n, width := x.Dims()
	var gram mat.SymDense
	gram.SymOuterK(1, x.T())
	var chol mat.Cholesky
	if !chol.Factorize(&gram) || chol.Cond() > 1e12 {
		return TwoWay{}, inputError("the values do not connect all blocks and arms")
	}
	var right, beta, fitted, residual mat.VecDense
	right.MulVec(x.T(), y)
	if err := chol.SolveVecTo(&beta, &right); err != nil {
		return TwoWay{}, inputError("%v", err)
	}
	var inverse mat.SymDense
	if err := chol.InverseTo(&inverse); err != nil {
		return TwoWay{}, inputError("%v", err)
	}
	fitted.MulVec(x, &beta)
	residual.SubVec(y, &fitted)
	fit := TwoWay{DF: float64(n - width)}
	fit.MSE = mat.Dot(&residual, &residual) / fit.DF
	for i := from; i < width; i++ {
		fit.Effects = append(fit.Effects, beta.AtVec(i))
		fit.SE = append(fit.SE, math.Sqrt(fit.MSE*inverse.At(i, i)))
	}
	return fit, nil
}
