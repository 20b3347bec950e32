package workload

import (
	"context"
	"errors"
	"fmt"

	"filewise"
)

// onePhase refuses a check of anything but a workload's only phase.
func onePhase(phase int, ledgers []filewise.Ledger) error { return phaseOf(phase, 1, ledgers) }

// phaseOf refuses a check of a phase that a workload of n phases does not have, or that
// lacks a ledger.
func phaseOf(phase, n int, ledgers []filewise.Ledger) error {
	if phase < 0 || phase >= n || phase >= len(ledgers) {
		return fmt.Errorf("phase %d of %d, with %d ledgers", phase, n, len(ledgers))
	}
	return nil
}

// answer is what a section returns: rows with a whole number of each name. The columns
// from sums on are sums over rows, whose number stands before them where there is a
// column for it: those of no rows are NULL, and 0 here.
type answer struct {
	section string
	names   []string
	sums    int
	read    func(any) (int64, error) // nil: whole, which refuses what is negative
}

func (a answer) ask(ctx context.Context, q filewise.Querier) ([][]int64, error) {
	result, err := q.Query(ctx, a.section)
	if err == nil && len(result) == 0 {
		err = errors.New("it returned nothing")
	}
	if err != nil {
		return nil, fmt.Errorf("section %q: %w", a.section, err)
	}
	read := a.read
	if read == nil {
		read = whole
	}
	all := make([][]int64, len(result))
	for i, row := range result {
		if len(row) != len(a.names) {
			return nil, fmt.Errorf("section %q returned %d columns, want %q", a.section, len(row), a.names)
		}
		v := make([]int64, len(row))
		for k, x := range row {
			if x == nil && k >= a.sums && (a.sums == 0 || v[a.sums-1] == 0) {
				continue
			}
			if v[k], err = read(x); err != nil {
				return nil, fmt.Errorf("section %q, %s: %w", a.section, a.names[k], err)
			}
		}
		all[i] = v
	}
	return all, nil
}
