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

// next is a table and its batch to load, which done gives back; nil: none is left.
func (q *loadQueue) next() (best *queuedTable, batch int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range q.tables {
		of := &q.tables[i]
		if of.next < of.data.Batches && (best == nil || of.before(best)) {
			best = of
		}
	}
	if best == nil {
		return nil, 0
	}
	best.next++
	best.active++
	return best, best.next - 1
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
func (q *loadQueue) done(t *queuedTable) {
	q.mu.Lock()
	defer q.mu.Unlock()
	t.active--
}
