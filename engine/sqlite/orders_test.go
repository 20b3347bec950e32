package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"filewise"
	"filewise/lab/workload"
)

func ordersOn(t *testing.T, p workload.Params, files, loaders int) (*database, *filewise.Database, filewise.Workload) {
	t.Helper()
	w, err := workload.NewOrders(p, 7)
	db := phased(t, w, err, files)
	eg, ctx := errgroup.WithContext(t.Context())
	eg.SetLimit(loaders)
	for _, table := range w.(filewise.Loadable).Data() {
		for b := range table.Batches {
			eg.Go(func() error { return db.Bulk.LoadBatch(ctx, table, b) })
		}
	}
	if err := eg.Wait(); err != nil {
		t.Fatal(err)
	}
	if err := db.Bulk.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	return db.Build.(*database), db, w
}

// everything returns the content of all tables, row by row, whatever file they are in.
func everything(t *testing.T, d *database) string {
	t.Helper()
	c, err := d.openAll()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var b strings.Builder
	for _, loaded := range d.program.Tables {
		table := loaded.Name
		if err := c.exec(t.Context(), d.viewOf(loaded)); err != nil {
			t.Fatal(err)
		}
		columns, err := c.query(t.Context(), "SELECT group_concat(name) FROM fw_0001.pragma_table_info('"+table+"')")
		if err != nil {
			t.Fatal(err)
		}
		order := columns[0][0].(string)
		rows, err := c.query(t.Context(), "SELECT * FROM "+table+" ORDER BY "+order)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&b, table, rows)
	}
	return b.String()
}

// Loads with one seed are the same to the last letter, whatever the numbers of
// loaders and of files, and so are the results of transactions one after the other.
func TestOrdersFollowFromTheSeed(t *testing.T) {
	p := workload.Params{Connections: 3, Warehouses: 3, Scale: 0.001}
	var loaded, worked string
	for _, x := range []struct{ files, loaders int }{{1, 1}, {3, 4}, {2, 2}} {
		d, db, w := ordersOn(t, p, x.files, x.loaders)
		if err := w.Check(t.Context(), db, filewise.AsLoaded, nil); err != nil {
			t.Fatal(err)
		}
		now := everything(t, d)
		if loaded == "" {
			loaded = now
		}
		if now != loaded {
			t.Errorf("%+v: loaded otherwise than with one loader into one file", x)
		}
		ledger := filewise.Ledger{40, 40, 40}
		for worker := range ledger {
			s, err := d.Connect(t.Context(), 0, worker)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Do(t.Context(), 0, 40); err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Check(t.Context(), db, 0, []filewise.Ledger{ledger}); err != nil {
			t.Fatal(err)
		}
		if now = everything(t, d); worked == "" {
			worked = now
		}
		if now != worked || now == loaded {
			t.Errorf("%+v: transactions left something else than on one file", x)
		}
	}
}

// damages holds what each condition must see; the numbers are the conditions'.
var damages = map[int]string{
	1:  "UPDATE warehouse SET w_ytd = w_ytd + 1 WHERE w_id = 2",
	2:  "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_id = 3",
	3:  "DELETE FROM new_order WHERE no_d_id = 4 AND no_o_id = (SELECT min(no_o_id) + 1 FROM new_order WHERE no_d_id = 4)",
	4:  "DELETE FROM order_line WHERE ol_d_id = 5 AND ol_o_id = 2 AND ol_number = 1",
	5:  "UPDATE orders SET o_carrier_id = NULL WHERE o_d_id = 6 AND o_id = 3",
	6:  "UPDATE orders SET o_ol_cnt = CASE o_id WHEN 4 THEN o_ol_cnt + 1 ELSE o_ol_cnt - 1 END WHERE o_d_id = 7 AND o_id IN (4, 5)",
	7:  "UPDATE order_line SET ol_delivery_d = NULL WHERE ol_d_id = 8 AND ol_o_id = 1 AND ol_number = 2",
	8:  "UPDATE history SET h_w_id = h_w_id + 1 WHERE h_w_id = 4 AND h_d_id = 9 AND h_c_id = 1",
	9:  "UPDATE history SET h_d_id = 1 WHERE h_d_id = 2 AND h_c_id = 5",
	10: "UPDATE customer SET c_balance = c_balance + 1, c_ytd_payment = c_ytd_payment - 1 WHERE c_d_id = 1 AND c_id = 3",
	11: "UPDATE customer SET c_delivery_cnt = c_delivery_cnt + 1 WHERE c_d_id = 2 AND c_id = 4",
	12: "UPDATE customer SET c_ytd_payment = c_ytd_payment + 1 WHERE c_d_id = 3 AND c_id = 5",
}

// Every one of the twelve conditions sees its damage, in the second of two files.
func TestOrdersSeesDamage(t *testing.T) {
	d, db, w := ordersOn(t, workload.Params{Connections: 2, Warehouses: 4, Scale: 0.001}, 2, 2)
	check := func() error {
		return w.Check(t.Context(), db, 0, []filewise.Ledger{{0, 0}})
	}
	if err := check(); err != nil {
		t.Fatal(err)
	}
	violations := func(n int) int64 {
		rows, err := d.Query(t.Context(), workload.SectionCondition(n))
		if err != nil || len(rows) != 1 {
			t.Fatal(rows, err)
		}
		return rows[0][0].(int64)
	}
	for n := 1; n <= len(damages); n++ {
		before := violations(n) // damages before may have done to this one too
		if err := d.files[1].keeper.exec(t.Context(), damages[n]); err != nil {
			t.Fatal(n, err)
		}
		if violations(n) <= before {
			t.Errorf("condition %d does not see %s", n, damages[n])
		}
		if err := check(); !errors.Is(err, filewise.ErrCheck) {
			t.Errorf("after %s the check says %v", damages[n], err)
		}
	}
}

// A file more than warehouses would be empty; more than ten cannot be attached.
func TestOrdersRefusesFiles(t *testing.T) {
	for warehouses, files := range map[int]int{1: 2, 20: 11} {
		w, err := workload.NewOrders(workload.Params{Connections: 2, Warehouses: warehouses, Scale: 0.001}, 1)
		if err != nil {
			t.Fatal(err)
		}
		target := filewise.Target{Engine: Name, Mode: filewise.Embedded, Volumes: []filewise.Volume{{Name: "a", Dir: t.TempDir()}}}
		l := filewise.Layout{Name: "x", Kind: filewise.KindShards, Data: filewise.Spread{Files: files, Bytes: 64 << 20}}
		if _, err := New().Statements(target, l, w.Program()); !errors.Is(err, filewise.ErrUnsupported) || filewise.RemedyOf(err) == "" {
			t.Errorf("%d files of %d warehouses: %v", files, warehouses, err)
		}
	}
}

// A cancel in the middle leaves whole transactions, as many as are reported.
func TestOrdersCancelled(t *testing.T) {
	d, db, w := ordersOn(t, workload.Params{Connections: 2, Warehouses: 2, Scale: 0.001}, 2, 2)
	ledger := make(filewise.Ledger, 2)
	for worker := range ledger {
		ctx, cancel := context.WithCancel(t.Context())
		s, err := d.Connect(ctx, 0, worker)
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for d.workers[worker].counts.transactions.Load() < 20 {
				time.Sleep(time.Millisecond)
			}
			cancel()
		}()
		ledger[worker], err = s.Do(ctx, 0, 1<<40)
		if !errors.Is(err, context.Canceled) || ledger[worker] < 20 {
			t.Errorf("%d transactions, %v", ledger[worker], err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Check(t.Context(), db, 0, []filewise.Ledger{ledger}); err != nil {
		t.Error(err)
	}
}

// Arguments that are none are refused before anything is executed.
func FuzzReadTransaction(f *testing.F) {
	f.Add("new-order", "1,2,3", "1,1,1", "5,5,5", int64(1))
	f.Add("payment", "BARBARBAR", "", ",", int64(-1))
	f.Add("stock-level", "9223372036854775808", "1,", "x", int64(0))
	f.Fuzz(func(t *testing.T, kind, a, b, c string, n int64) {
		for _, args := range [][]any{{n, n, n, n, a, b, c}, {n, n, n, n, n, a, n, n}, {n, n, n, a}, {n, n, n}, {a, b, c}} {
			x, err := readTransaction(kind, args)
			if err != nil {
				continue
			}
			for _, l := range x.lines {
				if kind != kindNewOrder || len(l) != 3 {
					t.Errorf("%s has lines %v", kind, x.lines)
				}
			}
		}
	})
}
