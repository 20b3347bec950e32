package experiment

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filewise"
)

func sized(name string, batches, rows int64) filewise.TableData {
	return filewise.TableData{Table: name, Batches: batches, Rows: rows, RowBytes: 10}
}

// taken returns the next batches of loaders that do not finish any in between.
func taken(q *loadQueue, loaders int) (names []string, tables []*queuedTable) {
	for range loaders {
		t, batch := q.next()
		if t == nil {
			break
		}
		names, tables = append(names, fmt.Sprint(t.data.Table, batch)), append(tables, t)
	}
	return names, tables
}

func TestLoadQueue(t *testing.T) {
	for _, c := range []struct {
		name    string
		tables  []filewise.TableData
		loaders int
		want    []string
	}{
		{"one size, in turns", []filewise.TableData{sized("a", 2, 200), sized("b", 2, 200), sized("c", 2, 200)}, 1,
			[]string{"a0", "b0", "c0", "a1", "b1", "c1"}},
		{"two loaders are on two tables", []filewise.TableData{sized("small", 2, 20), sized("large", 4, 400)}, 2,
			[]string{"large0", "small0", "large1", "small1", "large2", "large3"}},
		{"all end together", []filewise.TableData{sized("small", 2, 200), sized("large", 4, 400)}, 1,
			[]string{"large0", "large1", "small0", "large2", "small1", "large3"}},
		{"a table without batches", []filewise.TableData{sized("none", 0, 0), sized("one", 1, 1)}, 3, []string{"one0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := newLoadQueue(c.tables)
			var got []string
			for {
				names, tables := taken(q, c.loaders)
				if len(names) == 0 {
					break
				}
				got = append(got, names...)
				for _, table := range tables {
					q.done(table)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
