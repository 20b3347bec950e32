// Package stats holds classical statistics: warm-up, trends and scaling of trials, and the tests that articles use. Its
// test files hold further ones, which the sequential method of package verdict was calibrated with and whose results
// are compared with its vectors.
//
// Throughputs are positive numbers in any unit. If a function's name contains Log, it analyses their natural
// logarithms. If input cannot be used, such as NaN or infinities, functions return an error wrapping ErrInput. None
// panics.
package stats

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"
)

// ErrInput is wrapped by all errors of this package.
var ErrInput = errors.New("stats: invalid input")

func inputError(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrInput}, args...)...)
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// checkSample returns an error unless x has at least n values, all finite.
func checkSample(x []float64, n int) error {
	if len(x) < n {
		return inputError("%d values, at least %d are needed", len(x), n)
	}
	for i, v := range x {
		if !finite(v) {
			return inputError("value %d is %v", i, v)
		}
	}
	return nil
}

// logs returns the logarithms of at least n positive values, or an error.
func logs(x []float64, n int) ([]float64, error) {
	if err := checkSample(x, n); err != nil {
		return nil, err
	}
	y := make([]float64, len(x))
	for i, v := range x {
		if v <= 0 {
			return nil, inputError("value %d is %v, not positive", i, v)
		}
		y[i] = math.Log(v)
	}
	return y, nil
}

// Interval is a confidence interval.
type Interval struct{ Lo, Hi float64 }

func sumSquares(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	mean := stat.Mean(x, nil)
	var sum float64
	for _, v := range x {
		sum += (v - mean) * (v - mean)
	}
	return sum
}
