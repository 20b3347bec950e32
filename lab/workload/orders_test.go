package workload

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"filewise"
)

func newTestOrders(t testing.TB, change func(*Params)) *orders {
	t.Helper()
	p := Params{Connections: 4, Warehouses: 3, Scale: 0.01}
	if change != nil {
		change(&p)
	}
	w, err := NewOrders(p, 11)
	if err != nil {
		t.Fatal(err)
	}
	return w.(*orders)
}

// Transactions follow from seed, phase, worker and number alone, and the two ways
// to ask for them agree.
func TestOrdersArguments(t *testing.T) {
	w, again := newTestOrders(t, func(p *Params) { p.Users = []int{2, 5} }), newTestOrders(t, func(p *Params) { p.Users = []int{2, 5} })
	seen := map[string]bool{}
	for phase := range w.phases {
		a, b := w.phases[phase].Args.(orderArgs), again.phases[phase].Args.(orderArgs)
		for worker := range 3 {
			for i := int64(300); i >= 0; i-- { // in any order
				args := fmt.Sprint(a.TypeOf(worker, i), a.Args(nil, worker, i))
				if args != fmt.Sprint(b.TypeOf(worker, i), b.Args(nil, worker, i)) {
					t.Fatalf("phase %d, worker %d, operation %d is not the same again", phase, worker, i)
				}
				seen[args] = true
			}
		}
	}
	if len(seen) < 1700 {
		t.Errorf("only %d of 1,806 transactions differ", len(seen))
	}
}

// The mix is exact in every hand of 100, what the specification leaves to chance comes as often as it demands, and
// lines come in the order of their stocks.
func TestOrdersMix(t *testing.T) {
	w := newTestOrders(t, nil)
	a := orderArgs{w, 0}
	const n = 100_000
	count := map[int]float64{}
	var lines, remoteLines, remotePayments, names, newOrders float64
	var x transaction
	for i := range int64(n) {
		k := a.TypeOf(1, i)
		count[k]++
		a.draw(&x, 1, i)
		if x.kind != k || x.w != 2 || x.d < 1 || x.d > districts || x.c < 0 || x.c > w.customers {
			t.Fatalf("operation %d: %+v", i, x)
		}
		switch k {
		case kindNewOrder, kindRolledBack:
			newOrders++
			lines += float64(x.n)
			for l, line := range x.lines[:x.n] {
				unused := k == kindRolledBack && l == x.n-1
				if before := x.lines[max(l-1, 0)]; before.supply > line.supply && !unused || before.supply == line.supply && before.item > line.item {
					t.Fatalf("line %+v comes before %+v", before, line)
				}
				if unused != (line.item == w.items+1) || line.item < 1 || line.quantity < 1 || line.quantity > 10 {
					t.Fatalf("line %+v of %+v", line, x)
				}
				if line.supply != x.w {
					remoteLines++
				}
			}
		case kindPayment:
			if x.custW != x.w {
				remotePayments++
			}
			if x.name >= 0 {
				names++
			}
		}
	}
	for kind, want := range map[int]float64{kindPayment: 43, kindOrderStatus: 4, kindDelivery: 4, kindStockLevel: 4} {
		if count[kind] != want*n/100 {
			t.Errorf("%v × %s, want %v of 100", count[kind], orderTypes[kind], want)
		}
	}
	if newOrders != 45*n/100 {
		t.Errorf("%v new-orders", newOrders)
	}
	share := func(what string, got, of, want float64) {
		t.Helper()
		if sd := math.Sqrt(want * (1 - want) / of); math.Abs(got/of-want) > 5*sd {
			t.Errorf("%s: %.4f, want %.4f ± %.4f", what, got/of, want, 5*sd)
		}
	}
	share("rollbacks", count[kindRolledBack], newOrders, 0.01)
	share("remote lines", remoteLines, lines, 0.01)
	share("remote payments", remotePayments, count[kindPayment], 0.15)
	share("payments by name", names, count[kindPayment], 0.60)
	if mean := lines / newOrders; math.Abs(mean-10) > 0.1 {
		t.Errorf("%.2f lines a new-order, want 10", mean)
	}
}

// At scale 1 the constants are the specification's.
func TestOrdersConstants(t *testing.T) {
	w := newTestOrders(t, func(p *Params) { p.Scale = 1 })
	if w.customers != 3000 || w.items != 100_000 || w.delivered() != 2100 || w.chance.customerA != 1023 || w.chance.itemA != 8191 {
		t.Errorf("%d customers, %d items, %d delivered, A %d and %d", w.customers, w.items, w.delivered(), w.chance.customerA, w.chance.itemA)
	}
	for seed := range uint64(300) {
		c := newChance(w, seed)
		if d := max(c.nameRun-c.nameLoad, c.nameLoad-c.nameRun); d < 65 || d > 119 || d == 96 || d == 112 || c.nameRun < 0 || c.nameRun > nameA {
			t.Fatalf("C of last names %d and %d", c.nameLoad, c.nameRun)
		}
	}
	for n, want := range map[int64]string{0: "BARBARBAR", 371: "PRICALLYOUGHT", 999: "EINGEINGEING"} {
		if got := string(appendName(nil, n)); got != want {
			t.Errorf("name %d is %s, want %s", n, got, want)
		}
	}
	counts := make([]int, 3001)
	d := w.dice(1, 2, 3)
	for range 300_000 {
		counts[d.nonUniform(1023, w.chance.customer, 1, 3000)]++
	}
	if counts[0] != 0 || slices.Max(counts[1:]) < 3*slices.Min(counts[1:]) {
		t.Errorf("customers are asked for %d to %d times: that is uniform", slices.Min(counts[1:]), slices.Max(counts[1:]))
	}
}

// rowSum is an exact checksum of rows, whatever their order.
type rowSum struct {
	row    []byte
	rows   int64
	sum    uint64
	values int
}

func (r *rowSum) Int(v int64)     { r.row = fmt.Append(r.row, v, ","); r.values++ }
func (r *rowSum) Float(v float64) { r.row = fmt.Append(r.row, v, ","); r.values++ }
func (r *rowSum) Text(v []byte)   { r.row = append(append(r.row, v...), ','); r.values++ }
func (r *rowSum) Null()           { r.row = append(r.row, "NULL,"...); r.values++ }
func (r *rowSum) EndRow() error {
	r.sum += uint64(crc32.ChecksumIEEE(r.row))
	r.row = r.row[:0]
	r.rows++
	return nil
}

// Batches follow from the seed and their number alone, have all columns, and make the table's number of rows.
func TestOrdersData(t *testing.T) {
	w, again := newTestOrders(t, nil), newTestOrders(t, nil)
	backwards := again.Data()
	for k, table := range w.Data() {
		var a, b rowSum
		for batch := range table.Batches {
			if err := table.Write(batch, &a); err != nil {
				t.Fatal(err)
			}
			if err := backwards[k].Write(table.Batches-1-batch, &b); err != nil {
				t.Fatal(err)
			}
		}
		if a.sum != b.sum || a.rows != table.Rows || int64(a.values) != a.rows*int64(len(table.Columns)) {
			t.Errorf("%s: checksum %d and %d, %d rows of %d, %d values in %d columns", table.Table, a.sum, b.sum, a.rows, table.Rows, a.values,
				len(table.Columns))
		}
		if table.Table != tableItem && table.Batches%w.warehouses != 0 {
			t.Errorf("%s: %d batches cannot be of one warehouse each", table.Table, table.Batches)
		}
	}
}

// WriteArgs and the writing of rows cost no allocation for each.
func TestOrdersAllocateNothing(t *testing.T) {
	if underRace {
		t.Log("allocations are counted in the run without the race detector")
		return
	}
	w := newTestOrders(t, nil)
	var to tableSum
	a := orderArgs{w, 0}
	i := int64(0)
	if n := testing.AllocsPerRun(2000, func() { a.WriteArgs(&to, 1, i); i++ }); n > 0 {
		t.Errorf("%v allocations an operation", n)
	}
	for _, table := range w.Data() {
		before := to.rows
		n := testing.AllocsPerRun(1, func() {
			if err := table.Write(0, &to); err != nil {
				t.Fatal(err)
			}
		})
		if n > 3 {
			t.Errorf("%s: %v allocations in a batch of %d rows", table.Table, n, (to.rows-before)/2)
		}
	}
}

// Rests have the means of the specification, and none is longer than it allows.
func TestOrdersThink(t *testing.T) {
	w := newTestOrders(t, func(p *Params) { p.Think = 0.5 })
	pause := w.phases[0].Pause
	var sum time.Duration
	const n = 20_000
	for i := int64(1); i <= n; i++ {
		p := pause(2, i)
		if p < time.Second || p > 69*time.Second {
			t.Fatalf("a rest of %v", p)
		}
		sum += p
	}
	// keying 9.63 s and thinking 11.36 s by the mix, half of them
	if mean := sum.Seconds() / n; math.Abs(mean-10.5) > 0.3 {
		t.Errorf("a mean rest of %.2f s, want 10.5 s", mean)
	}
	if newTestOrders(t, nil).phases[0].Pause != nil {
		t.Error("there are rests without --think")
	}
}

func TestOrdersRefuses(t *testing.T) {
	for name, change := range map[string]func(*Params){
		"--warehouses": func(p *Params) { p.Warehouses = 0 }, "--scale": func(p *Params) { p.Scale = 1.5 },
		"--connections": func(p *Params) { p.Connections = 2001 }, "--users": func(p *Params) { p.Users = []int{5, 5} },
		"--users 0": func(p *Params) { p.Users = []int{0} }, "--think": func(p *Params) { p.Think = math.NaN() },
		"--rate": func(p *Params) { p.Rate = -1 }, "--rate 1 and": func(p *Params) { p.Rate, p.Think = 1, 1 },
	} {
		p := Params{Connections: 4, Warehouses: 3, Scale: 0.01}
		change(&p)
		_, err := NewOrders(p, 1)
		if filewise.CodeOf(err) != filewise.CodeUsage || !strings.Contains(err.Error(), name) || filewise.RemedyOf(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// answers are a Querier of fixed answers.
type answers map[string][][]any

func (a answers) Query(_ context.Context, section string) ([][]any, error) {
	return a[section], nil
}

// The check adds up files, and reports which total or condition is wrong.
func TestOrdersCheck(t *testing.T) {
	w := newTestOrders(t, nil)
	ledger := filewise.Ledger{500, 300, 0, 77}
	totals, err := w.totals(t.Context(), []filewise.Ledger{ledger})
	if err != nil {
		t.Fatal(err)
	}
	q := answers{}
	set := func(change int) {
		var a, b []any
		for i, n := range totals {
			if i == change {
				n++
			}
			a, b = append(a, n/2), append(b, fmt.Append(nil, n-n/2))
		}
		q["totals"] = [][]any{a, b}
	}
	for n := 1; n <= conditions; n++ {
		q[SectionCondition(n)] = [][]any{{int64(0)}, {"0"}}
	}
	check := func() error { return w.Check(t.Context(), q, 0, []filewise.Ledger{ledger}) }
	set(-1)
	if err := check(); err != nil {
		t.Fatal(err)
	}
	for i, name := range totalNames {
		set(i)
		if err := check(); !errors.Is(err, filewise.ErrCheck) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	set(-1)
	for n := 1; n <= conditions; n++ {
		q[SectionCondition(n)] = [][]any{{int64(0)}, {int64(2)}}
		if err := check(); !errors.Is(err, filewise.ErrCheck) || !strings.Contains(err.Error(), fmt.Sprintf("3.3.2.%d in 2 places", n)) {
			t.Errorf("condition %d: %v", n, err)
		}
		for _, bad := range [][][]any{nil, {{}}, {{"x"}}, {{nil}}} {
			q[SectionCondition(n)] = bad
			if err := check(); err == nil || errors.Is(err, filewise.ErrCheck) {
				t.Errorf("condition %d, answer %v: %v", n, bad, err)
			}
		}
		q[SectionCondition(n)] = [][]any{{int64(0)}}
	}
}

func BenchmarkOrdersArgs(b *testing.B) {
	w := newTestOrders(b, nil)
	var to tableSum
	a := orderArgs{w, 0}
	b.ReportAllocs()
	for i := int64(0); b.Loop(); i++ {
		a.WriteArgs(&to, 1, i)
	}
}

// The scenario's defaults make a workload, and its figures are the published ones.
func TestOrdersScenario(t *testing.T) {
	s := ordersScenario()
	w, err := s.New(s.Params, 1)
	if err != nil {
		t.Fatal(err)
	}
	if p := w.Program(); p.Workload != s.Name || p.Connections() != s.Params.Connections || slices.Max(s.Files) > s.Params.Warehouses {
		t.Errorf("%+v", p)
	}
	for _, text := range append(s.Notes, s.Title, s.Summary) {
		if strings.Contains(strings.ToLower(text), "tpmc") {
			t.Errorf("%q", text)
		}
	}
}
