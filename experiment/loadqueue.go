package experiment

import (
	"sync"

	"filewise"
)

// loadQueue hands the batches of tables to several loaders. Each gets one of a table
// that the fewest others load, for they would wait for each other's pages; among these,
// of the table with the most bytes left, so that all tables end together. Tables of one size
// get their batches in turns.
type loadQueue struct {
	mu     sync.Mutex
	tables []queuedTable
}

type queuedTable struct {
	data   *filewise.TableData
	next   int64 // its batch
	active int   // batches that are being loaded
}

func newLoadQueue(tables []filewise.TableData) *loadQueue {
	q := &loadQueue{}
	for i := range tables {
		q.tables = append(q.tables, queuedTable{data: &tables[i]})
	}
	return q
}

// next is a batch to load; false: none is left. It is given back by done.
func (q *loadQueue) next() (t *filewise.TableData, batch int64, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	var best *queuedTable
	for i := range q.tables {
		of := &q.tables[i]
		if of.next < of.data.Batches && (best == nil || of.before(best)) {
			best = of
		}
	}
	if best == nil {
		return nil, 0, false
	}
	best.next++
	best.active++
	return best.data, best.next - 1, true
}

// before says whether a table's next batch is loaded before another's.
func (t *queuedTable) before(u *queuedTable) bool {
	if t.active != u.active {
		return t.active < u.active
	}
	return t.left() > u.left()
}

// left are the bytes of the batches that nobody has begun with.
func (t *queuedTable) left() float64 {
	d := t.data
	return float64(d.Rows) * float64(d.RowBytes) * float64(d.Batches-t.next) / float64(d.Batches)
}

// done says that a batch of a table is loaded.
func (q *loadQueue) done(t *filewise.TableData) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range q.tables {
		if q.tables[i].data == t {
			q.tables[i].active--
		}
	}
}
