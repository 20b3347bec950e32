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

// bulkLoad loads the tables by the engine's fastest way, in batches of all tables
// in turns, as many at a time as there are cores.
func (l *life) bulkLoad(ctx context.Context, tables []filewise.TableData) error {
	if l.db.Bulk == nil {
		return fmt.Errorf("this engine loads no data in bulk: %w", filewise.ErrUnsupported)
	}
	most := int64(0)
	for _, t := range tables {
		most = max(most, t.Batches)
	}
	eg, gctx := errgroup.WithContext(ctx)
	eg.SetLimit(runtime.NumCPU())
	for batch := range most {
		for _, t := range tables {
			if batch < t.Batches && gctx.Err() == nil {
				eg.Go(func() error { return l.loadBatch(gctx, t, batch) })
			}
		}
	}
	if err := eg.Wait(); err != nil {
		return err
	}
	return l.db.Bulk.Finish(ctx)
}

// loadBatch loads a batch once, also when its connection is lost, or when it was the
// victim of a deadlock, as with one that is still rolled back: the engine knows which
// batches it has.
func (l *life) loadBatch(ctx context.Context, t filewise.TableData, batch int64) error {
	for attempt := 1; ; attempt++ {
		err := l.db.Bulk.LoadBatch(ctx, t, batch)
		if err == nil {
			return nil
		}
		if attempt == loadAttempts || ctx.Err() != nil || !filewise.ClassOf(err).Passes() {
			return fmt.Errorf("batch %d of table %s: %w", batch, t.Table, err)
		}
	}
}
