package postgres

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"filewise"
	"filewise/lab/workload"
)

// Each operation of dml that is interrupted leaves a true ledger, from which it
// goes on.
func TestPhasesInterrupted(t *testing.T) {
	t.Parallel()
	need(t)
	for _, connect := range []string{workload.ConnectPooled, workload.ConnectPerStatement} {
		t.Run(connect, func(t *testing.T) {
			rows := int64(1200)
			if connect == workload.ConnectPerStatement {
				rows = 60
			}
			w, err := workload.NewDML(workload.Params{Connections: 2, Rows: rows, Mode: workload.ModeBoth, Connect: connect,
				Index: workload.IndexKey}, 3)
			must(t, err)
			ctx := deadline(t)
			db := buildOn(t, ctx, open(t, ctx, onScratch(t, 1)), partitions(3, 4<<20), w)
			var ledgers []filewise.Ledger
			cut := 0
			for i, p := range w.Program().Phases {
				ledgers = append(ledgers, make(filewise.Ledger, p.Connections))
				for c := range p.Connections {
					cut += interrupted(t, db, w, i, c, ledgers)
				}
			}
			if cut < 4 {
				t.Errorf("only %d calls were interrupted", cut)
			}
		})
	}
}

// interrupted does the operations of one worker in a phase: again and again they
// are given up after a moment, and what is committed is compared with the ledger.
func interrupted(t *testing.T, db *filewise.Database, w filewise.Workload, phase, worker int, ledgers []filewise.Ledger) (cut int) {
	t.Helper()
	p := w.Program().Phases[phase]
	s, err := db.Connect(t.Context(), phase, worker)
	must(t, err)
	defer func() { must(t, s.Close()) }()
	done, all := &ledgers[phase][worker], p.Ops/int64(p.Connections)
	for moment := 3 * time.Millisecond; *done < all; moment *= 2 {
		ctx, cancel := context.WithTimeout(t.Context(), moment)
		n, err := s.Do(ctx, *done, all-*done)
		cancel()
		if err != nil && !errors.Is(err, context.DeadlineExceeded) || n < 0 || n > all-*done || err == nil && n != all-*done {
			t.Fatalf("%s: %d done: %v", p.Operation, n, err)
		}
		*done += n
		if err == nil {
			continue
		}
		cut++
		must(t, w.Check(t.Context(), db, phase, ledgers))
	}
	must(t, w.Check(t.Context(), db, phase, ledgers))
	return cut
}

// An operation that meets no row is an error, of a procedure and of a statement.
func TestMissingRow(t *testing.T) {
	t.Parallel()
	need(t)
	ctx := deadline(t)
	w, err := workload.NewDML(workload.Params{Connections: 2, Rows: 50, Mode: workload.ModeBoth, Connect: workload.ConnectPooled,
		Index: workload.IndexNone}, 3)
	must(t, err)
	l := filewise.Layout{Name: "plain table", Kind: filewise.KindSingle,
		Data: filewise.Spread{Files: 1, Bytes: 1 << 20, Allocation: filewise.Growing}}
	db := buildOn(t, ctx, open(t, ctx, onScratch(t, 1)), l, w)
	for i, p := range w.Program().Phases {
		s, err := db.Connect(ctx, i, 0)
		must(t, err)
		n, err := s.Do(ctx, 0, 3)
		known := p.Client || p.Section != "delete" // a row that is not there looks like a deleted one
		if (p.Section == "insert") != (err == nil) || known && (err != nil) != (n == 0) {
			t.Errorf("%s on no rows: %d done, %v", p.Operation, n, err)
		}
		must(t, s.Close())
		must(t, db.Build.(*build).link.Exec(ctx, "TRUNCATE fw_rows"))
	}
}

// Whatever a text holds is loaded as it is, and a batch that fails leaves nothing
// and can be loaded again.
func TestBulk(t *testing.T) {
	t.Parallel()
	need(t)
	ctx := deadline(t)
	w, err := workload.NewScan(workload.Params{Rows: 1000, Cache: workload.CacheWarm, Data: workload.DataOrdered, Repeat: 1}, 3)
	must(t, err)
	db := buildOn(t, ctx, open(t, ctx, onScratch(t, 1)), partitions(2, 1<<20), w)
	texts := []string{"plain", `back\slash`, `\.`, `\N`, "tab\tnew\nline\rreturn", "Größe 数据", "", `a\\b"'`}
	broken := errors.New("the writer's own")
	batch := func(bad bool) filewise.TableData {
		return filewise.TableData{Table: "frag1", Columns: []string{"id", "address", "val1", "val2"}, Batches: 1,
			Write: func(_ int64, to filewise.RowWriter) error {
				for i, text := range texts {
					to.Int(int64(i + 1))
					to.Text([]byte(text))
					to.Null()
					to.Int(-1 << 31)
					if err := to.EndRow(); err != nil {
						return err
					}
				}
				if bad {
					return broken
				}
				return nil
			}}
	}
	if err := db.Bulk.LoadBatch(ctx, batch(true), 0); !errors.Is(err, broken) {
		t.Errorf("a writer that fails: %v", err)
	}
	for range 2 {
		must(t, db.Bulk.LoadBatch(ctx, batch(false), 0))
	}
	rows, err := db.Build.(*build).link.Rows(ctx, "SELECT id, address, val1 IS NULL, val2 FROM frag1 ORDER BY id")
	must(t, err)
	if len(rows) != len(texts) {
		t.Fatalf("%d rows: %v", len(rows), rows)
	}
	for i, row := range rows {
		if row[1] != texts[i] || row[2] != true || row[3] != int32(-1<<31) {
			t.Errorf("%q became %v", texts[i], row)
		}
	}
	wrong := batch(false)
	wrong.Columns = wrong.Columns[:3]
	if err := db.Bulk.LoadBatch(ctx, wrong, 1); err == nil {
		t.Error("a row of too many values was loaded")
	}
	// Workers are counted if the server plans them.
	link := db.Build.(*build).link
	must(t, link.Exec(ctx, "INSERT INTO frag1 (id, val1, val4) SELECT g, g, g FROM generate_series(1000, 30000) g",
		"SET parallel_setup_cost = 0", "SET parallel_tuple_cost = 0", "SET min_parallel_table_scan_size = 0"))
	const scans = 3 // query 4
	for most, parallel := range map[int]bool{0: false, 2: true} {
		must(t, link.Exec(ctx, fmt.Sprintf("SET max_parallel_workers_per_gather = %d", most)))
		if n, err := db.ParallelWorkers(ctx, scans); err != nil || n > 0 != parallel {
			t.Errorf("of at most %d workers %d are planned: %v", most, n, err)
		}
	}
}
