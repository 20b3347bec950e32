package stats

import "fmt"

// checkTable requires a complete table of finite values.
func checkTable(x [][]float64, blocks, arms int) error {
	if len(x) < blocks || len(x[0]) < arms {
		return inputError("a table of at least %d blocks and %d arms is needed", blocks, arms)
	}
	for b, row := range x {
		if len(row) != len(x[0]) {
			return inputError("block %d has %d values, block 0 has %d", b, len(row), len(x[0]))
		}
		if err := checkSample(row, arms); err != nil {
			return fmt.Errorf("block %d: %w", b, err)
		}
	}
	return nil
}

// logTable is checkTable and the logarithms.
func logTable(x [][]float64, blocks, arms int) ([][]float64, error) {
	if err := checkTable(x, blocks, arms); err != nil {
		return nil, err
	}
	y := make([][]float64, len(x))
	for b, row := range x {
		var err error
		if y[b], err = logs(row, arms); err != nil {
			return nil, fmt.Errorf("block %d: %w", b, err)
		}
	}
	return y, nil
}

func checkConfidence(c float64) error {
	if !(c > 0 && c < 1) {
		return inputError("confidence %v is not between 0 and 1", c)
	}
	return nil
}
