package workload

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"filewise"
)

// usable are a scenario's own parameters, with SQL if it has none by itself.
func usable(sc Scenario) Params {
	p := sc.Params
	if sc.Name == OperationCustom {
		p.Custom = bank()
	}
	return p
}

func script(text string) Script {
	return Script{"": {{Text: text, File: "my.yaml", Line: 7}}}
}

// bank is a small workload of two types.
func bank() *Custom {
	return &Custom{
		Tables: []filewise.CustomTable{{Name: "accounts", Key: "id"}},
		Setup:  script("CREATE TABLE accounts (id INTEGER)"),
		Parameters: []Parameter{
			{Name: "id", Draw: DrawInt, From: 1, To: 100},
			{Name: "n", Draw: DrawSequential, From: 10},
			{Name: "unused", Draw: DrawOp},
		},
		Transactions: []Transaction{
			{Name: "add", Weight: 3, SQL: script("INSERT INTO accounts VALUES (:id + :n)")},
			{Name: "look", Weight: 1, SQL: script("SELECT :n")},
		},
		Checks: []CustomCheck{{Query: script("SELECT count(*) FROM accounts"), Committed: "add", Each: 2, Plus: 5}},
	}
}

func newBank(t *testing.T, change func(*Custom)) *custom {
	t.Helper()
	c := bank()
	if change != nil {
		change(c)
	}
	w, err := NewCustom(Params{Connections: 4, Custom: c}, 1)
	if err != nil {
		t.Fatal(err)
	}
	return w.(*custom)
}

func TestCustomFollowsFromTheSeed(t *testing.T) {
	a, b := newBank(t, nil).phases[0].Args.(filewise.TypedArgs), newBank(t, nil).phases[0].Args.(filewise.TypedArgs)
	adds, seen := 0, map[any]bool{}
	for worker := range 4 {
		for i := range int64(1000) {
			kind := a.TypeOf(worker, i)
			args := a.Args(nil, worker, i)
			if kind != b.TypeOf(worker, i) || !reflect.DeepEqual(args, b.Args(nil, worker, i)) {
				t.Fatalf("operation %d of connection %d differs", i, worker)
			}
			if want := 2 - kind; len(args) != want {
				t.Fatalf("type %d has %v", kind, args)
			}
			if kind == 0 {
				adds++
			}
			n := args[len(args)-1]
			if seen[n] || n.(int64) < 10 {
				t.Fatalf("sequential gives %v again", n)
			}
			seen[n] = true
		}
	}
	if adds != 3000 {
		t.Errorf("%d of 4000 operations are of the type with 3 of 4 weights", adds)
	}
}

// A captured study's types have the shares of its weights in a session's few hundred
// operations, and those that are rarer than one in a hundred come too.
func TestCustomTypesHaveTheirShares(t *testing.T) {
	w := &custom{seed: 3}
	for _, weight := range []uint64{6000, 2990, 1000, 10} {
		w.total += weight
		w.bounds = append(w.bounds, w.total)
	}
	args, n := customArgs{w, 0, 2}, [4]int{}
	for i := range int64(300) {
		n[args.TypeOf(1, i)]++
	}
	if n[0] != 180 || n[2] < 29 || n[2] > 33 {
		t.Errorf("of 300 operations are %v of each type, want 60, 30, 10 and 0.1 %%", n)
	}
	for i := range int64(10_000) {
		n[args.TypeOf(1, 300+i)]++
	}
	if n[3] < 3 || n[3] > 25 {
		t.Errorf("%d of 10,300 operations are of the rarest type, want about 10", n[3])
	}
}

// A further attempt has other values, except for what is not drawn by chance; without a type the others keep their weights.
func TestCustomAgain(t *testing.T) {
	text := func(s string) Script { return Script{"": {{Text: s, File: "my.yaml", Line: 1}}} }
	w, err := NewCustom(Params{Connections: 2, Custom: &Custom{Parameters: []Parameter{{Name: "key", Draw: DrawSequential, From: 5},
		{Name: "n", Draw: DrawInt, From: 1, To: 1 << 40}}, Transactions: []Transaction{{Name: "a", Weight: 1, SQL: text("SELECT :key, :n")},
		{Name: "b", Weight: 3, SQL: text("SELECT 1")}}}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	rest, err := w.(*custom).Without([]string{"b"})
	if err != nil {
		t.Fatal(err)
	}
	args := rest.Program().Phases[0].Args.(customArgs)
	first, again := args.Args(nil, 1, 3), args.ArgsAgain(nil, 1, 3, 1)
	if first[0] != int64(12) || again[0] != first[0] || again[1] == first[1] || args.ArgsAgain(nil, 1, 3, 2)[1] == again[1] {
		t.Errorf("%v, then %v", first, again)
	}
	if share := w.(*custom).Share("a"); share != 0.25 || w.(*custom).committed("c", []filewise.Ledger{{4}}) != 0 {
		t.Error(share)
	}
}

func TestCustomGenerators(t *testing.T) {
	day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		p    Parameter
		good func(v any, worker int) bool
	}{
		"int":    {Parameter{Draw: DrawInt, From: -3, To: 3}, within64(-3, 3)},
		"one":    {Parameter{Draw: DrawInt, From: math.MinInt64, To: math.MinInt64}, within64(math.MinInt64, math.MinInt64)},
		"zipf":   {Parameter{Draw: DrawZipf, From: 5, To: 1_000_000_004, Theta: 1}, within64(5, 1_000_000_004)},
		"nurand": {Parameter{Draw: DrawNURand, From: 1, To: 3000, A: 1023}, within64(1, 3000)},
		"float":  {Parameter{Draw: DrawFloat, Low: -1, High: 1}, func(v any, _ int) bool { f := v.(float64); return f >= -1 && f < 1 }},
		"text":   {Parameter{Draw: DrawText, From: 0, To: 5}, func(v any, _ int) bool { return len(v.(string)) <= 5 }},
		"word":   {Parameter{Draw: DrawWord, From: 3, To: 5}, func(v any, _ int) bool { return wordForm.MatchString(v.(string)) }},
		"uuid":   {Parameter{Draw: DrawUUID}, func(v any, _ int) bool { return uuidForm.MatchString(v.(string)) }},
		"choice": {Parameter{Draw: DrawChoice, Choices: []string{"a", "b"}, Weights: []int{1, 0}}, func(v any, _ int) bool { return v == "a" }},
		"moment": {Parameter{Draw: DrawTimestamp, Start: day, End: day.Add(time.Minute)},
			func(v any, _ int) bool { return strings.HasPrefix(v.(string), "2026-01-01 00:00:") }},
		"worker": {Parameter{Draw: DrawWorker}, func(v any, worker int) bool { return v == int64(worker) }},
		"range":  {Parameter{Draw: DrawRange, From: 1, To: 10}, func(v any, worker int) bool { return (v.(int64)-1)/5 == int64(worker) }},
	} {
		make, err := c.p.generator(1)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var d dice
		d.Seed(1, 2)
		for i := range int64(500) {
			var to boxes
			if make(&to, &d, 2, int(i%2), i); len(to.all) != 1 || !c.good(to.all[0], int(i%2)) {
				t.Errorf("%s gives %v", name, to.all)
				break
			}
		}
	}
}

var (
	wordForm = regexp.MustCompile(`^[a-z]{3,5}$`)
	uuidForm = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
)

func within64(least, most int64) func(any, int) bool {
	return func(v any, _ int) bool { n := v.(int64); return n >= least && n <= most }
}

// The share of the most frequent rank is 1/H(n, θ), and of the n-th 1/n^θ of that.
func TestZipf(t *testing.T) {
	const n, draws = 100, 200_000
	for _, theta := range []float64{0.5, 0.99, 1, 2} {
		harmonic := 0.0
		for k := 1.0; k <= n; k++ {
			harmonic += math.Pow(k, -theta)
		}
		z := newZipf(n, theta)
		var d dice
		d.Seed(3, 4)
		var count [n + 1]float64
		for range draws {
			count[z.draw(&d)]++
		}
		for _, k := range []int{1, 2, 10, 100} {
			want := draws * math.Pow(float64(k), -theta) / harmonic
			if math.Abs(count[k]-want) > 5*math.Sqrt(want)+1 {
				t.Errorf("θ %v: rank %d came %v times, want %.0f", theta, k, count[k], want)
			}
		}
	}
}

func TestCustomRefused(t *testing.T) {
	for says, change := range map[string]func(*Custom){
		"no transactions":                   func(c *Custom) { c.Transactions = nil },
		"no transaction has a weight":       func(c *Custom) { c.Transactions[0].Weight, c.Transactions[1].Weight = 0, 0 },
		"from 9 is above to 1":              func(c *Custom) { c.Parameters[0].From, c.Parameters[0].To = 9, 1 },
		"too large":                         func(c *Custom) { c.Parameters[0].From, c.Parameters[0].To = math.MinInt64, math.MaxInt64 },
		"theta 0":                           func(c *Custom) { c.Parameters[0].Draw = DrawZipf },
		"there is no generator":             func(c *Custom) { c.Parameters[0].Draw = "unifrom" },
		`committed "ad" is unknown`:         func(c *Custom) { c.Checks[0].Committed = "ad" },
		`shard_by "is" is unknown`:          func(c *Custom) { c.ShardBy = "is" },
		"transaction \"a b\": invalid name": func(c *Custom) { c.Transactions[0].Name = "a b" },
		"has no SQL":                        func(c *Custom) { c.Transactions[0].SQL = nil },
	} {
		c := bank()
		change(c)
		_, err := NewCustom(Params{Connections: 4, Custom: c}, 1)
		if err == nil || !strings.Contains(err.Error(), says) || filewise.CodeOf(err) != filewise.CodeUsage || filewise.RemedyOf(err) == "" {
			t.Errorf("want %q, got %v (%s)", says, err, filewise.RemedyOf(err))
		}
	}
}

func TestCustomFor(t *testing.T) {
	c := bank()
	c.Transactions[0].SQL = Script{"mysql": {{Text: "m"}}, "postgres": {{Text: "p", File: "my.yaml", Line: 9}}}
	for engine, want := range map[string]string{"mysql": "m", "mariadb": "m", "postgres": "p"} {
		got, err := c.For(engine, "mysql")
		if err != nil || got.Transactions[0].SQL[""][0].Text != want {
			t.Errorf("%s: %v, %v", engine, got.Transactions[0].SQL, err)
		}
	}
	if _, err := c.For("sqlite"); !errors.Is(err, filewise.ErrUnsupported) ||
		!strings.Contains(err.Error(), "transaction add has no SQL for sqlite") {
		t.Error(err)
	}
	if c.Transactions[0].SQL[""] != nil {
		t.Error("For has changed what it was asked of")
	}
}

// found is a check's query result.
type found [][]any

func (a found) Query(context.Context, string) ([][]any, error) { return a, nil }

func TestCustomCheck(t *testing.T) {
	w := newBank(t, nil)
	ledger := filewise.Ledger{10, 0, 3, 0}
	adds := int64(0)
	for worker, n := range ledger {
		for i := range n {
			if w.phases[0].Args.(filewise.TypedArgs).TypeOf(worker, i) == 0 {
				adds++
			}
		}
	}
	want := 5 + 2*adds
	check := func(rows [][]any) error {
		return w.Check(context.Background(), found(rows), 0, []filewise.Ledger{ledger})
	}
	for _, rows := range [][][]any{{{want}}, {{want - 1}, {int32(1)}}, {{[]byte(fmt.Sprint(want))}}, {{fmt.Sprint(want) + ".00"}}} {
		if err := check(rows); err != nil {
			t.Errorf("%v: %v", rows, err)
		}
	}
	for _, rows := range [][][]any{nil, {{want + 1}}, {{nil}}, {{want, want}}, {{"x"}, {"y"}}} {
		if err := check(rows); !errors.Is(err, filewise.ErrCheck) || !strings.Contains(err.Error(), "my.yaml:7") {
			t.Errorf("%v: %v", rows, err)
		}
	}
	w.Checks[0] = CustomCheck{Query: script("q"), NoRows: true}
	if check(nil) != nil || check([][]any{{int64(0)}}) == nil {
		t.Error("no rows")
	}
}
