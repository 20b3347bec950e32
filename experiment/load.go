package experiment

import (
	"context"
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"

	"filewise"
)

// loadAttempts is how often a batch is tried whose connection was lost: a server
// that fails again and again is not waited for.
const loadAttempts = 3

// Load loads the tables by the engine's fastest way, in batches, as many at a time as
// there are cores.
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

// loadBatch loads a batch once, also when its connection is lost, or when it was the
// victim of a deadlock, as with one that is still rolled back: the engine knows which
// batches it has.
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
