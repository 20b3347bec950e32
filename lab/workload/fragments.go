package workload

import (
	"context"
	"fmt"
	"math/rand/v2"

	"filewise"
)

// The tables of scan: four with the same definition, loaded in turns so that they lie interleaved. Row i (from 1) of a
// table follows from the seed, the table and the row's batch alone.
const (
	fragTables    = 4
	fragBatchRows = 1000
	// fragValues is the number of different values of val1 … val5, from 0 on. The article's literals (5718, 14242, 10000)
	// are then as selective at any size.
	fragValues = 1 << 15
	// fragRowBytes is the average payload of a row in bytes: 1.5 GB in four tables of 1,039,773 rows, as published.
	fragRowBytes = 360
	// publishedRows is the auto-increment value of the article's tables. Its key literals are scaled by it.
	publishedRows = 1_039_773

	nameLeast, nameMost       = 20, 100
	addressLeast, addressMost = 150, 370
)

// fragments generates the tables of scan.
type fragments struct {
	seed  uint64
	rows  int64 // per table
	grown bool
	first bool // create indexes before loading
	pool  string
}

func newFragments(p Params, seed uint64) *fragments {
	r := rand.New(rand.NewPCG(seed, 0x736361))
	return &fragments{seed: seed, rows: p.Rows, grown: p.Data == DataGrown, first: p.IndexedFirst, pool: letters(r, PoolSpan+addressMost)}
}

// Data returns the four tables with their rows.
func (f *fragments) Data() []filewise.TableData {
	var all []filewise.TableData
	for t := 1; t <= fragTables; t++ {
		all = append(all, filewise.TableData{
			Table: fmt.Sprintf("frag%d", t), Columns: []string{"id", "name", "address", "state", "val1", "val2", "val3", "val4", "val5"},
			Batches: (f.rows + fragBatchRows - 1) / fragBatchRows, RowBytes: fragRowBytes, Rows: f.rows,
			Write: func(batch int64, to filewise.RowWriter) error { return f.write(t, batch, to) },
		})
	}
	return all
}

// tables declares the tables, with the keys and indexes that the queries need.
func (f *fragments) tables() []filewise.Table {
	var all []filewise.Table
	for _, d := range f.Data() {
		all = append(all, filewise.Table{Name: d.Table, Columns: d.Columns, Key: []string{"id"}, Rows: d.Rows, RowBytes: d.RowBytes,
			Loaded: true, Grown: f.grown, IndexedFirst: f.first,
			Indexes: []filewise.Index{{Name: "name", Columns: []string{"name"}}, {Name: "values", Columns: []string{"val1", "val2"}}}})
	}
	return all
}

// write writes the rows of a batch.
func (f *fragments) write(table int, batch int64, to filewise.RowWriter) error {
	state := [2]byte{}
	return f.each(table, batch, func(id int64, r *rand.Rand, values *[5]int64) error {
		n := nameLeast + r.IntN(nameMost-nameLeast+1)
		a := addressLeast + r.IntN(addressMost-addressLeast+1)
		to.Int(id)
		to.Text(f.text(r, n))
		to.Text(f.text(r, a))
		s := 10 + r.IntN(90)
		state[0], state[1] = byte('0'+s/10), byte('0'+s%10)
		to.Text(state[:])
		for _, v := range values {
			to.Int(v)
		}
		return to.EndRow()
	})
}

func (f *fragments) text(r *rand.Rand, n int) []byte {
	at := r.IntN(PoolSpan)
	return []byte(f.pool[at : at+n])
}

// each visits the rows of a batch.
func (f *fragments) each(table int, batch int64, visit func(id int64, r *rand.Rand, values *[5]int64) error) error {
	r := rand.New(rand.NewPCG(f.seed+uint64(table)<<32, uint64(batch)))
	var values [5]int64
	for i := batch * fragBatchRows; i < min((batch+1)*fragBatchRows, f.rows); i++ {
		for k := range values {
			values[k] = r.Int64N(fragValues)
		}
		if err := visit(f.id(i), r, &values); err != nil {
			return err
		}
	}
	return nil
}

// id returns the key of the i-th row to load. Keys come in order. In grown data they are spread by a step that has no
// factor in common with the number of rows.
func (f *fragments) id(i int64) int64 {
	if !f.grown {
		return i + 1
	}
	return i*f.step()%f.rows + 1
}

// step returns about 0.618 of the rows, so that rows loaded one after the other have distant keys.
func (f *fragments) step() int64 {
	s := max(f.rows*618/1000, 1)
	for gcd(s, f.rows) != 1 {
		s++
	}
	return s
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// fragSum holds the number of rows of a table, and the sums of keys and of val1.
type fragSum struct{ rows, ids, values int64 }

func (f *fragments) sum(ctx context.Context, table int) (fragSum, error) {
	var s fragSum
	for b := range f.Data()[table-1].Batches {
		if err := ctx.Err(); err != nil {
			return s, err
		}
		err := f.each(table, b, func(id int64, r *rand.Rand, values *[5]int64) error {
			r.IntN(nameMost - nameLeast + 1)
			r.IntN(addressMost - addressLeast + 1)
			r.IntN(PoolSpan)
			r.IntN(PoolSpan)
			r.IntN(90)
			s.rows, s.ids, s.values = s.rows+1, s.ids+id, s.values+values[0]
			return nil
		})
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

// checkLoaded checks the tables before the first phase only, because no phase changes what the check adds up.
func (f *fragments) checkLoaded(ctx context.Context, q filewise.Querier, phase int) error {
	if phase > filewise.AsLoaded {
		return nil
	}
	return f.check(ctx, q)
}

// check compares the tables with what was loaded. Section check returns a line per table and file: the table, its rows,
// and the sums of id and val1.
func (f *fragments) check(ctx context.Context, q filewise.Querier) error {
	result, err := answer{section: SectionCheck, names: []string{"table", "rows", "keys", "values"}, sums: 2}.ask(ctx, q)
	if err != nil {
		return err
	}
	got := map[int64]fragSum{}
	for _, v := range result {
		s := got[v[0]]
		got[v[0]] = fragSum{s.rows + v[1], s.ids + v[2], s.values + v[3]}
	}
	for t := 1; t <= fragTables; t++ {
		want, err := f.sum(ctx, t)
		if err != nil {
			return err
		}
		if got[int64(t)] != want {
			return fmt.Errorf("%w: frag%d has %+v (rows, sums of id and val1), expected %+v", filewise.ErrCheck, t, got[int64(t)], want)
		}
	}
	return nil
}

// enoughRows returns an error unless the tables can have that many rows, which --rows or --size sets.
func enoughRows(rows int64) error {
	if rows >= fragBatchRows && rows <= maxDMLRows {
		return nil
	}
	if rows > maxDMLRows {
		return filewise.Errorf(filewise.CodeUsage, "compare on less first, such as --size 16GiB (4TiB at most); backups of your own database, "+
			"on some tables first: filewise backup --target URL --database NAME --screen 3 --part TABLE", "%d rows a table are more than %d",
			rows, maxDMLRows)
	}
	return filewise.Errorf(filewise.CodeUsage, "give as many by --rows, or another --size", "%d rows a table are not between %d and %d",
		rows, fragBatchRows, maxDMLRows)
}
