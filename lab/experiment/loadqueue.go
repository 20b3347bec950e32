package experiment

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"filewise"
)

// loadQueue hands the batches of tables to several loaders. A loader gets a batch of the table with the fewest loaders,
// because loaders of one table wait for each other's pages. Among these it gets the table with the most bytes left, so
// that all tables end together. Tables of equal size get their batches in turn.
type loadQueue struct {
	mu     sync.Mutex
	tables []queuedTable
}

type queuedTable struct {
	data   *filewise.TableData
	next   int64 // the table's next batch
	active int   // batches being loaded
}

func newLoadQueue(tables []filewise.TableData) *loadQueue {
	q := &loadQueue{}
	for i := range tables {
		q.tables = append(q.tables, queuedTable{data: &tables[i]})
	}
	return q
}

// next returns a table and its batch to load. The caller returns the table with done. Nil means no batch is left.
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

// before reports whether a table's next batch is loaded before another's.
func (t *queuedTable) before(u *queuedTable) bool {
	if t.active != u.active {
		return t.active < u.active
	}
	return t.left() > u.left()
}

// left returns the bytes of the batches that no loader has begun.
func (t *queuedTable) left() float64 {
	d := t.data
	return float64(d.Rows) * float64(d.RowBytes) * float64(d.Batches-t.next) / float64(d.Batches)
}

// done records that a batch of a table is loaded.
func (q *loadQueue) done(t *queuedTable) {
	q.mu.Lock()
	defer q.mu.Unlock()
	t.active--
}

// loadAttempts bounds the tries of a batch that fails in passing. A server that keeps failing is not waited for.
const loadAttempts = 3

// Load loads the tables with the engine's fastest method, in batches, as many at a time as there are cores (at least
// two).
func Load(ctx context.Context, bulk filewise.BulkLoader, tables []filewise.TableData) error {
	if bulk == nil {
		return fmt.Errorf("this engine loads no data in bulk: %w", filewise.ErrUnsupported)
	}
	q := newLoadQueue(tables)
	eg, gctx := errgroup.WithContext(ctx)
	for range max(runtime.NumCPU(), 2) {
		eg.Go(func() error {
			for gctx.Err() == nil {
				t, batch := q.next()
				if t == nil {
					return nil
				}
				if err := loadBatch(gctx, bulk, *t.data, batch); err != nil {
					return err
				}
				q.done(t)
			}
			return context.Cause(gctx)
		})
	}
	if err := eg.Wait(); err != nil {
		return err
	}
	return bulk.Finish(ctx)
}

// loadBatch loads a batch exactly once. It retries if the connection is lost, or if a deadlock chose the batch as its
// victim, perhaps with a batch still being rolled back. The engine records which batches it has.
func loadBatch(ctx context.Context, bulk filewise.BulkLoader, t filewise.TableData, batch int64) error {
	for attempt := 1; ; attempt++ {
		err := bulk.LoadBatch(ctx, t, batch)
		if err == nil {
			return nil
		}
		if attempt == loadAttempts || ctx.Err() != nil || !filewise.ClassOf(err).Passes() {
			return fmt.Errorf("batch %d of table %s: %w", batch, t.Table, err)
		}
	}
}
