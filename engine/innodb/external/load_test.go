package external

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filewise"
	"filewise/engine/innodb/servertest"
	"filewise/lab/workload"
)

// testLoad: whether the server takes files or not, texts arrive as they are. A
// batch whose connection is lost is loaded once. What the server does not
// take whole is an error.
func testLoad(t *testing.T, b bench) {
	var before string
	fatal(t, b.Root.QueryRowContext(t.Context(), "SELECT @@GLOBAL.local_infile").Scan(&before))
	t.Cleanup(func() { b.Exec(t, "SET GLOBAL local_infile = "+before) })
	w, err := workload.NewScan(workload.Params{Rows: 1000, Cache: workload.CacheWarm, Data: workload.DataOrdered, Repeat: 1}, 1)
	fatal(t, err)
	s := open(t, b, b.Target("filewise"))
	for _, infile := range []string{"ON", "OFF"} {
		t.Run("local_infile "+infile, func(t *testing.T) {
			b.Exec(t, "SET GLOBAL local_infile = "+infile)
			db := buildOn(t, s, layout(filewise.KindPartitions, 2), w)
			defer func() { fatal(t, db.Drop(deadline(t))) }()
			loadTexts(t, b, db)
			loadCut(t, b, db)
		})
	}
}

// texts holds what an encoding can stumble over; nil is no value.
var texts = [][]byte{[]byte("plain"), {}, nil, []byte("tab\tline\nreturn\rback\\slash nul\x00 quote'\""), []byte(`\N`), []byte("é"),
	[]byte(strings.Repeat("x", 300))}

// frag1 returns a batch of the table of that name.
func frag1(write func(filewise.RowWriter) error) filewise.TableData {
	return filewise.TableData{Table: "frag1", Columns: []string{"id", "name"}, Batches: 1,
		Write: func(_ int64, to filewise.RowWriter) error { return write(to) }}
}

func loadTexts(t *testing.T, b bench, db *filewise.Database) {
	t.Helper()
	fatal(t, db.Bulk.LoadBatch(deadline(t), frag1(func(to filewise.RowWriter) error {
		for i, text := range texts {
			to.Int(int64(i + 1))
			if text == nil {
				to.Null()
			} else {
				to.Text(text)
			}
			if err := to.EndRow(); err != nil {
				return err
			}
		}
		return nil
	}), 0))
	rows, err := b.Root.QueryContext(t.Context(), "SELECT CONVERT(name USING utf8mb4) FROM "+db.Build.(built).name+".fw_frag1 ORDER BY id")
	fatal(t, err)
	defer rows.Close()
	var got [][]byte
	for rows.Next() {
		var text []byte
		fatal(t, rows.Scan(&text))
		got = append(got, text)
	}
	fatal(t, rows.Err())
	if diff := cmp.Diff(texts, got); diff != "" {
		t.Error(diff)
	}
}

// loadCut ends the connection in the middle of a batch.
func loadCut(t *testing.T, b bench, db *filewise.Database) {
	t.Helper()
	ctx, name := deadline(t), db.Build.(built).name
	rows := func() (n int) {
		fatal(t, b.Root.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+name+".fw_frag1 WHERE id > 1000").Scan(&n))
		return n
	}
	cut := true
	batch := frag1(func(to filewise.RowWriter) error {
		for i := range 2000 {
			if i == 1500 && cut {
				cut = false
				if err := servertest.Sever(context.WithoutCancel(ctx), b.Root, name); err != nil {
					return err
				}
			}
			to.Int(int64(2000 + i))
			to.Text([]byte(strings.Repeat("y", 100)))
			if err := to.EndRow(); err != nil {
				return err
			}
		}
		return nil
	})
	if err := db.Bulk.LoadBatch(ctx, batch, 1); filewise.ClassOf(err) != filewise.ClassConnection {
		t.Errorf("a cut connection is %v, of class %v", err, filewise.ClassOf(err))
	}
	if n := rows(); n != 0 {
		t.Errorf("%d rows of a batch that failed", n)
	}
	for range 2 {
		fatal(t, db.Bulk.LoadBatch(ctx, batch, 1))
	}
	if n := rows(); n != 2000 {
		t.Errorf("%d rows of a batch of 2000, loaded again", n)
	}
	for what, write := range map[string]func(filewise.RowWriter){
		"a key twice":   func(to filewise.RowWriter) { to.Int(2000); to.Text(nil) },
		"a text":        func(to filewise.RowWriter) { to.Text([]byte("no number")); to.Text(nil) },
		"one too long":  func(to filewise.RowWriter) { to.Int(5000); to.Text(make([]byte, 301)) },
		"a value short": func(to filewise.RowWriter) { to.Int(5000) },
	} {
		err := db.Bulk.LoadBatch(ctx, frag1(func(to filewise.RowWriter) error { write(to); return to.EndRow() }), 2)
		if err == nil {
			t.Errorf("%s is loaded", what)
		}
	}
	fatal(t, db.Bulk.LoadBatch(ctx, frag1(func(to filewise.RowWriter) error { to.Int(6000); to.Null(); return to.EndRow() }), 2))
	if n := rows(); n != 2001 {
		t.Error(fmt.Sprint(n, " rows after batches that failed, and a good one of the same number"))
	}
}
