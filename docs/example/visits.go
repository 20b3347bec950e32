// Package example is the workload that docs/adding-a-workload.md shows.
package example

import (
	"context"
	"fmt"

	"filewise"
	"filewise/lab/workload"
)

// NewVisits makes the workload visits: rows of a number and a page, each a
// transaction. The sections of its SQL are tables, statement-visit and check, which
// returns for each file the number of rows and the sum of their pages.
func NewVisits(p workload.Params, _ uint64) (filewise.Workload, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return visits{int64(p.Connections)}, nil
}

type visits struct{ connections int64 }

// Program describes the workload to an engine.
func (v visits) Program() filewise.Program {
	return filewise.Program{Workload: "visits", Phases: []filewise.Phase{{
		Operation: "visits", Unit: "visits", Section: "visit", Connections: int(v.connections), CommitEvery: 1,
		OpBytes: 16, Client: true, Args: v,
	}}}
}

// Args appends the number and the page of visit i of a connection.
func (v visits) Args(dst []any, worker int, i int64) []any {
	number := i*v.connections + int64(worker) + 1
	return append(dst, number, number%97)
}

// Pool is empty: nothing has to be known to make the arguments.
func (visits) Pool() string { return "" }

// Check compares rows and pages with what the committed visits should have left.
func (v visits) Check(ctx context.Context, q filewise.Querier, _ int, ledgers []filewise.Ledger) error {
	var want, found [2]int64
	for worker, n := range ledgers[0] {
		for i := range n {
			want[0], want[1] = want[0]+1, want[1]+v.Args(nil, worker, i)[1].(int64)
		}
	}
	rows, err := q.Query(ctx, "check")
	if err != nil {
		return fmt.Errorf("summing the visits: %w", err)
	}
	for _, row := range rows {
		found[0], found[1] = found[0]+row[0].(int64), found[1]+row[1].(int64)
	}
	if found != want {
		return fmt.Errorf("%w: %d visits of pages that sum up to %d, expected %d and %d", filewise.ErrCheck, found[0], found[1], want[0], want[1])
	}
	return nil
}

// VisitsScenario returns the scenario that Scenarios lists.
func VisitsScenario() workload.Scenario {
	return workload.Scenario{
		Name: "visits", Title: "Visits of pages", Files: []int{1, 2}, Bytes: 4 << 20,
		Params: workload.Params{Connections: 2, RowBytes: 16, CommitEvery: 1, Table: workload.TableShared, Key: workload.KeySequential},
		New:    NewVisits,
	}
}
