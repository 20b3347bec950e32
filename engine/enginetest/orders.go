package enginetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"testing"

	"filewise"
	"filewise/lab/workload"
)

// orderParams returns the parameters of a small orders: the least of customers and items.
func orderParams(churn bool) workload.Params {
	return workload.Params{Connections: 4, Warehouses: 4, Scale: 0.001, Churn: churn}
}

// testOrders loads orders, works on it with all connections at the same time, and
// needs exact totals and the specification's consistency conditions; then, with
// one connection, the same state on layouts of one and of several files.
func testOrders(t *testing.T, s Subject) {
	b := newBench(t, s)
	w := b.orders(true)
	if !b.covers(b.layout(1), w.Program()) {
		return
	}
	if _, err := s.Engine.Statements(b.target, b.layout(4), w.Program()); err != nil {
		t.Fatalf("the plan: %v", err)
	}
	t.Run("Concurrent", func(t *testing.T) { b.as(t).ordersConcurrent(w) })
	t.Run("Layouts", func(t *testing.T) { b.as(t).ordersEquivalent() })
}

func (b *bench) orders(churn bool) filewise.Workload {
	b.t.Helper()
	w, err := workload.NewOrders(orderParams(churn), seed(b.t))
	fatal(b.t, err)
	return w
}

// loadOrders loads the tables of orders into files that have space for them.
func (b *bench) loadOrders(files, loaders, times int, w filewise.Workload) *filewise.Database {
	b.t.Helper()
	l := b.layout(files)
	l.Data.Bytes = max(l.Data.Bytes, 32<<20)
	return b.loaded(l, loaders, times, w)
}

func (b *bench) ordersConcurrent(w filewise.Workload) {
	ctx := context.Background()
	db := b.loadOrders(4, 3, 2, w)
	phase := w.Program().Phases[0]
	const each = 50
	result := b.driven(db, w.Program(), each)
	want := map[string]float64{}
	for worker := range phase.Connections {
		for i := range int64(each) {
			want[phase.Types[phase.Args.(filewise.TypedArgs).TypeOf(worker, i)]]++
		}
	}
	for name, m := range result.Measure.Types {
		if m.Work != want[name] {
			b.t.Errorf("%v × %s, expected %v", m.Work, name, want[name])
		}
	}
	check := w.Check
	ledgers := []filewise.Ledger{result.Ledger}
	fatal(b.t, check(ctx, db, 0, ledgers))
	for worker := range phase.Connections { // until the totals show an operation that is left out
		ledgers[0][worker] -= 5
	}
	if err := check(ctx, db, 0, ledgers); !errors.Is(err, filewise.ErrCheck) {
		b.t.Errorf("the check does not see transactions too many: %v", err)
	}
}

// ordersEquivalent does the same transactions, one after the other, on layouts of
// different numbers of files.
func (b *bench) ordersEquivalent() {
	ctx := context.Background()
	w := b.orders(false)
	const each = 60
	var first map[string]string
	for loaders, files := range []int{1, 4} {
		db := b.loadOrders(files, loaders+1, 1, w)
		ledger := make(filewise.Ledger, 4)
		for worker := range ledger {
			session, err := db.Connect(ctx, 0, worker)
			fatal(b.t, err)
			ledger[worker], err = session.Do(ctx, 0, each)
			fatal(b.t, errors.Join(err, session.Close()))
		}
		fatal(b.t, w.Check(ctx, db, 0, []filewise.Ledger{ledger}))
		state, err := tableSums(ctx, db)
		fatal(b.t, err)
		if first == nil {
			first = state
		} else if !maps.Equal(first, state) {
			b.t.Errorf("tables of %d files %v, of 1 file %v; seed %d", files, state, first, seed(b.t))
		}
	}
}

// tableSums returns the sums of each table, added up over the rows of section loaded.
func tableSums(ctx context.Context, q filewise.Querier) (map[string]string, error) {
	rows, err := q.Query(ctx, "loaded")
	if err != nil {
		return nil, err
	}
	sums := map[string][3]int64{}
	for _, row := range rows {
		s := sums[text(row[0])]
		for i := range s {
			var n int64
			if row[i+1] != nil {
				if _, err := fmt.Sscan(text(row[i+1]), &n); err != nil {
					return nil, err
				}
			}
			s[i] += n
		}
		sums[text(row[0])] = s
	}
	out := map[string]string{}
	for table, s := range sums {
		out[table] = fmt.Sprint(s)
	}
	return out, nil
}

// text returns a value of a driver as text.
func text(v any) string {
	if b, ok := v.([]byte); ok {
		return string(b)
	}
	return fmt.Sprint(v)
}
