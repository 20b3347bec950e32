package workload

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"filewise"
)

// conditions is the number of consistency conditions in clause 3.3.2.
const conditions = 12

// SectionCondition returns the section that counts violations of condition n, from 1.
func SectionCondition(n int) string { return fmt.Sprintf("check-%02d", n) }

// checkAsLoaded checks the tables before any transaction: against what was loaded, and by the consistency conditions.
func (w *orders) checkAsLoaded(ctx context.Context, q filewise.Querier) error {
	if err := w.checkLoaded(ctx, q); err != nil {
		return err
	}
	if err := w.checkTotals(ctx, q, nil); err != nil {
		return err
	}
	return checkConditions(ctx, q)
}

// Check compares the tables' totals exactly with the transactions of all phases so far. After the last phase it also
// counts violations of the consistency conditions.
func (w *orders) Check(ctx context.Context, q filewise.Querier, phase int, ledgers []filewise.Ledger) error {
	if phase == filewise.AsLoaded {
		return w.checkAsLoaded(ctx, q)
	}
	if err := phaseOf(phase, len(w.phases), ledgers); err != nil {
		return err
	}
	if err := w.checkTotals(ctx, q, ledgers[:phase+1]); err != nil {
		return fmt.Errorf("after %s: %w", w.phases[phase].Operation, err)
	}
	if phase < len(w.phases)-1 { // the conditions cover everything, so checking them once at the end suffices
		return nil
	}
	return checkConditions(ctx, q)
}

// checkConditions returns an error if any consistency condition is violated.
func checkConditions(ctx context.Context, q filewise.Querier) error {
	var violated []string
	for n := 1; n <= conditions; n++ {
		rows, err := answer{section: SectionCondition(n), names: []string{"violations"}, sums: 1}.ask(ctx, q)
		if err != nil {
			return fmt.Errorf("consistency condition 3.3.2.%d: %w", n, err)
		}
		sum := int64(0)
		for _, v := range rows {
			sum += v[0]
		}
		if sum > 0 {
			violated = append(violated, fmt.Sprintf("3.3.2.%d in %d places", n, sum))
		}
	}
	if len(violated) > 0 {
		return fmt.Errorf("%w: consistency conditions are violated: %s", filewise.ErrCheck, strings.Join(violated, ", "))
	}
	return nil
}

// orderTotals holds the result of section totals, in its order.
type orderTotals [10]int64

var totalNames = [len(orderTotals{})]string{"orders", "order lines", "rows of history", "h_amount", "w_ytd", "d_ytd", "s_ytd",
	"s_order_cnt", "s_remote_cnt", "c_payment_cnt"}

func (t *orderTotals) add(o orderTotals) {
	for i := range t {
		t[i] += o[i]
	}
}

// checkTotals compares the tables' totals with what was loaded and committed.
func (w *orders) checkTotals(ctx context.Context, q filewise.Querier, ledgers []filewise.Ledger) error {
	rows, err := answer{section: "totals", names: totalNames[:]}.ask(ctx, q)
	if err != nil {
		return err
	}
	var got orderTotals
	for _, v := range rows {
		got.add(orderTotals(v))
	}
	want, err := w.totals(ctx, ledgers)
	if err != nil {
		return err
	}
	var wrong []string
	for i := range want {
		if got[i] != want[i] {
			wrong = append(wrong, fmt.Sprintf("%s %d, expected %d", totalNames[i], got[i], want[i]))
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("%w: %s", filewise.ErrCheck, strings.Join(wrong, "; "))
	}
	return nil
}

// totals returns the totals of what was loaded and of the ledgers' transactions.
func (w *orders) totals(ctx context.Context, ledgers []filewise.Ledger) (orderTotals, error) {
	n := w.warehouses * districts * w.customers
	paid := n * loadedAmount
	all := orderTotals{n, w.loadedLines(), n, paid, paid, paid, 0, 0, 0, n}
	var mu sync.Mutex
	eg, ctx := errgroup.WithContext(ctx)
	eg.SetLimit(runtime.GOMAXPROCS(0))
	for phase, ledger := range ledgers {
		for worker, ops := range ledger {
			eg.Go(func() error {
				one, err := w.totalsOf(ctx, orderArgs{w, phase}, worker, ops)
				mu.Lock()
				defer mu.Unlock()
				all.add(one)
				return err
			})
		}
	}
	return all, eg.Wait()
}

// totalsOf returns the totals of a worker's transactions.
func (w *orders) totalsOf(ctx context.Context, args orderArgs, worker int, ops int64) (orderTotals, error) {
	var sum orderTotals
	var t transaction
	for i := range ops {
		if i%chunk == 0 && ctx.Err() != nil {
			return sum, ctx.Err()
		}
		if k := args.kind(worker, i); k != kindNewOrder && k != kindPayment {
			continue
		}
		args.draw(&t, worker, i)
		switch t.kind {
		case kindNewOrder:
			sum[0]++
			sum[1] += int64(t.n)
			sum[7] += int64(t.n)
			for _, l := range t.lines[:t.n] {
				sum[6] += l.quantity
				if l.supply != t.w {
					sum[8]++
				}
			}
		case kindPayment:
			sum.add(orderTotals{2: 1, 3: t.amount, 4: t.amount, 5: t.amount, 9: 1})
		}
	}
	return sum, nil
}

// tableSum is a checksum of a table that any SQL can compute: rows, the sum of whole-number columns, and the length of
// texts.
type tableSum struct {
	rows, numbers, lengths int64
	columns                int
}

func (s *tableSum) Int(v int64)   { s.numbers += v; s.columns++ }
func (s *tableSum) Float(float64) { s.columns++ }
func (s *tableSum) Text(v []byte) { s.lengths += int64(len(v)); s.columns++ }
func (s *tableSum) Null()         { s.columns++ }
func (s *tableSum) EndRow() error { s.rows++; return nil }

// checkLoaded compares every table's checksum with the checksum of the generated rows.
func (w *orders) checkLoaded(ctx context.Context, q filewise.Querier) error {
	result, err := answer{section: "loaded", names: []string{"table", "rows", "numbers", "lengths"}, sums: 2, read: signed}.ask(ctx, q)
	if err != nil {
		return err
	}
	got := map[int64][3]int64{}
	for _, v := range result {
		s := got[v[0]]
		got[v[0]] = [3]int64{s[0] + v[1], s[1] + v[2], s[2] + v[3]}
	}
	for i, t := range w.Data() {
		var want tableSum
		for b := range t.Batches {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := t.Write(b, &want); err != nil {
				return err
			}
		}
		if s := got[int64(i+1)]; s != [3]int64{want.rows, want.numbers, want.lengths} {
			return fmt.Errorf("%w: table %s has %v (rows, sum of numbers, length of texts), expected %v", filewise.ErrCheck, t.Table, s,
				[3]int64{want.rows, want.numbers, want.lengths})
		}
	}
	return nil
}

// signed converts a whole number as drivers return it. Anything else is an error.
func signed(v any) (int64, error) {
	switch v := v.(type) {
	case int64:
		return v, nil
	case []byte:
		return signed(string(v))
	case string:
		if rest, negative := strings.CutPrefix(v, "-"); negative {
			n, err := whole(rest)
			return -n, err
		}
	}
	return whole(v)
}
