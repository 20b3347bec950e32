package enginetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"filewise"
	"filewise/lab/workload"
)

// operation is one call of Do.
type operation struct {
	worker int
	n      int64
}

// operations returns a seeded sequence of calls.
func operations(seed uint64, connections int, count int) []operation {
	r := rand.New(rand.NewPCG(seed, 1))
	out := make([]operation, count)
	for i := range out {
		out[i] = operation{r.IntN(connections), 1 + r.Int64N(12)}
	}
	return out
}

// testEquivalence checks that the same seeded operations leave the same logical state on every layout, whatever the
// table, the key and the commits.
func testEquivalence(t *testing.T, s Subject) {
	b := newBench(t, s)
	files := s.Files
	if s.Most > 0 {
		files = append(files[:len(files):len(files)], s.Most)
	}
	for _, c := range equivalents(b.target.Mode == filewise.Embedded) {
		p := params()
		p.Table, p.Key, p.CommitEvery = c.table, c.key, c.every
		t.Run(fmt.Sprintf("%s-%s-%d", c.table, c.key, c.every), func(t *testing.T) { equivalent(t, b.as(t), p, files) })
		files = s.Files
	}
}

type equivalence struct {
	table, key string
	every      int
}

// equivalents returns the parameters under which layouts are compared: all combinations,
// or, if a build takes a server's start, four that have each pair of values.
func equivalents(all bool) (out []equivalence) {
	for i, table := range []string{workload.TableShared, workload.TablePerConnection} {
		for j, key := range []string{workload.KeySequential, workload.KeyRandom} {
			for k, every := range []int{1, 4} {
				if all || (i+j+k)%2 == 0 {
					out = append(out, equivalence{table, key, every})
				}
			}
		}
	}
	return out
}

func equivalent(t *testing.T, b *bench, p workload.Params, layouts []int) {
	s, w := b.s, b.workload(p)
	replay := fmt.Sprintf("FILEWISE_SEED=%d go test %s -run '%s'", seed(t), s.Package, rootOf(t.Name()))
	var first string
	for _, files := range layouts {
		state, err := stateAfter(b, w, files)
		if err != nil {
			t.Fatalf("%s: %v\nseed %d; replay: %s", filewise.FilesName(files), err, seed(t), replay)
		}
		if first == "" {
			first = state
		}
		if state != first {
			t.Errorf("%s leave %s, %s left %s\nseed %d; replay: %s", filewise.FilesName(files), state,
				filewise.FilesName(layouts[0]), first, seed(t), replay)
		}
	}
}

// rootOf makes a -run pattern of a test's name.
func rootOf(name string) string { return "^" + strings.ReplaceAll(name, "/", "$/^") + "$" }

// stateAfter builds a layout and does the seeded operations. It returns rows and checksum over all files, which must
// equal the ledger's.
func stateAfter(b *bench, w filewise.Workload, files int) (string, error) {
	ctx := context.Background()
	p := w.Program()
	db, err := b.server.Build(ctx, b.layout(files), p)
	if err != nil {
		return "", err
	}
	defer func() { fatal(b.t, db.Drop(ctx)) }()
	sessions := make([]filewise.Session, p.Connections())
	for i := range sessions {
		if sessions[i], err = db.Connect(ctx, 0, i); err != nil {
			return "", err
		}
		defer func() { fatal(b.t, sessions[i].Close()) }()
	}
	ledger := make(filewise.Ledger, p.Connections())
	for _, o := range operations(seed(b.t), p.Connections(), 60) {
		done, err := sessions[o.worker].Do(ctx, ledger[o.worker], o.n)
		if err != nil || done != o.n {
			return "", fmt.Errorf("%d operations of connection %d: %d done: %w", o.n, o.worker, done, err)
		}
		ledger[o.worker] += done
	}
	if err := w.Check(ctx, db, 0, []filewise.Ledger{ledger}); err != nil {
		return "", err
	}
	seen := &recorder{Querier: db}
	if err := w.Check(ctx, seen, 0, []filewise.Ledger{ledger}); err != nil {
		return "", err
	}
	return seen.total(), nil
}

// recorder stores what section check returned.
type recorder struct {
	filewise.Querier
	rows [][]any
}

func (r *recorder) Query(ctx context.Context, section string) ([][]any, error) {
	rows, err := r.Querier.Query(ctx, section)
	r.rows = append(r.rows, rows...)
	return rows, err
}

// total adds the columns up over files and tables.
func (r *recorder) total() string {
	var sums [2]int64
	for _, row := range r.rows {
		for i, v := range row {
			if b, ok := v.([]byte); ok {
				v = string(b)
			}
			var n int64
			_, _ = fmt.Sscan(fmt.Sprint(v), &n) // absent is nothing to add; the check has read it strictly
			sums[i] += n
		}
	}
	return fmt.Sprintf("%d rows with checksum %d", sums[0], sums[1])
}
