package workload

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"filewise"
)

// sums answers section check.
type sums [][]any

func (s sums) Query(context.Context, string) ([][]any, error) { return s, nil }

// The check computes the sum of every cycle, and sees one too many, one too few and a wrong row.
func TestTempCheck(t *testing.T) {
	made, err := NewTemp(Params{Connections: 2, Rows: 50, RowBytes: 10, Cycle: CycleJoin}, 7)
	if err != nil {
		t.Fatal(err)
	}
	w := made.(*temp)
	seen := map[int64]bool{}
	for worker := range 2 {
		for i := range int64(3) {
			if s := w.sum(worker, i); s <= 0 || seen[s] {
				t.Errorf("cycle %d of connection %d sums up to %d", i, worker, s)
			} else {
				seen[s] = true
			}
		}
	}
	total := (w.sum(0, 0) + w.sum(0, 1)) % Modulus
	right := sums{{int64(0), int64(2), total}, {int64(1), int64(0), int64(0)}}
	if err := w.Check(t.Context(), right, 0, []filewise.Ledger{{2, 0}}); err != nil {
		t.Error(err)
	}
	for what, wrong := range map[string]struct {
		found  sums
		ledger filewise.Ledger
	}{
		"a cycle too many":  {right, filewise.Ledger{1, 0}},
		"a cycle too few":   {right, filewise.Ledger{2, 1}},
		"a wrong sum":       {sums{{int64(0), int64(2), total + 1}, right[1]}, filewise.Ledger{2, 0}},
		"no row of one":     {right[:1], filewise.Ledger{2, 0}},
		"a strange number":  {sums{right[0], {int64(9), int64(1), int64(1)}}, filewise.Ledger{2, 0}},
		"none did anything": {right, filewise.Ledger{0, 0}},
	} {
		if err := w.Check(t.Context(), wrong.found, 0, []filewise.Ledger{wrong.ledger}); !errors.Is(err, filewise.ErrCheck) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestTempParams(t *testing.T) {
	good := Params{Connections: 2, Rows: 50, RowBytes: 10, Cycle: CycleSort}
	for what, bad := range map[string]Params{
		"no rows":  {Connections: 2, RowBytes: 10, Cycle: CycleFill},
		"no cycle": {Connections: 2, Rows: 5, RowBytes: 10},
		"no bytes": {Connections: 2, Rows: 5, Cycle: CycleFill},
		"nobody":   {Rows: 5, RowBytes: 10, Cycle: CycleFill},
	} {
		if _, err := NewTemp(bad, 1); filewise.CodeOf(err) != filewise.CodeUsage {
			t.Errorf("%s: %v", what, err)
		}
	}
	w, err := NewTemp(good, 1)
	if err != nil || w.Program().First().OpBytes != 1000 || tempScenario().RowsIn(1<<20, good) != 15728 {
		t.Errorf("%v, %d bytes, %d rows", err, w.Program().First().OpBytes, tempScenario().RowsIn(1<<20, good))
	}
}

// An error for --size does not mention --rows alone.
func TestTooFewRowsOfTables(t *testing.T) {
	for _, scenario := range []func(Params, uint64) (filewise.Workload, error){NewScan, NewBackup} {
		_, err := scenario(Params{Rows: 436, Cache: CacheWarm, Data: DataOrdered, Repeat: 1}, 1)
		if filewise.CodeOf(err) != filewise.CodeUsage || !strings.HasPrefix(err.Error(), "436 rows a table are not between 1000 and ") ||
			!strings.Contains(filewise.RemedyOf(err), "--size") {
			t.Errorf("%v → %s", err, filewise.RemedyOf(err))
		}
		_, err = scenario(Params{Rows: 1 << 32, Cache: CacheWarm, Data: DataOrdered, Repeat: 1}, 1)
		if said := fmt.Sprint(err, filewise.RemedyOf(err)); !strings.Contains(said, "more than 2147483647") ||
			scanScenario().RowsIn(4<<40, Params{}) > maxDMLRows || !strings.Contains(said, "filewise backup --target URL") {
			t.Error(said)
		}
	}
}
