package private

import (
	"context"
	"sync"
	"time"

	"filewise"
	"filewise/engine/internal/managed"
)

// snapshotSuffix names the copy of a build's directory, beside it on its volume.
const snapshotSuffix = ".snapshot"

// resetter keeps a copy of the cleanly shut-down server.
type resetter struct {
	instance *instance

	mu       sync.Mutex
	snapshot *managed.Snapshot
	took     []filewise.Stage
}

// Snapshot shuts the server down cleanly, purge included, copies its files and
// starts it again.
func (r *resetter) Snapshot(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.took = nil
	i := r.instance
	statements := []string{"SET GLOBAL innodb_fast_shutdown = 0"}
	if i.design.binlog() { // the log of loading: nobody will need it
		statements = append(statements, i.design.product.Queries.ResetBinlog)
	}
	if err := i.exec(ctx, statements...); err != nil {
		return failed("snapshot", err)
	}
	if err := r.stage("stop", func() error { return i.stop(ctx) }); err != nil {
		return failed("snapshot", err)
	}
	err := r.stage("copy", func() (err error) {
		r.snapshot, err = managed.Take(ctx, i.design.dirs, func(root string) string { return root + snapshotSuffix })
		return err
	})
	if err != nil {
		return failed("snapshot", i.explain(err))
	}
	return failed("snapshot", r.stage("start", func() error { return i.start(ctx) }))
}

// Reset ends the server at once, since what it holds is thrown away, restores
// the files that were written since the snapshot, and starts it again.
func (r *resetter) Reset(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.took = nil
	if r.snapshot == nil {
		return filewise.Errorf(filewise.CodeInternal, "", "reset of %s: there is no snapshot", r.instance.design.layout.Name)
	}
	_ = r.stage("stop", func() error { r.instance.kill(); return nil })
	err := r.stage("copy", func() error {
		_, err := r.snapshot.Restore(ctx)
		return err
	})
	if err != nil {
		return failed("reset", r.instance.explain(err))
	}
	return failed("reset", r.stage("start", func() error { return r.instance.start(ctx) }))
}

func (r *resetter) stage(name string, do func() error) error {
	start := time.Now()
	err := do()
	r.took = append(r.took, filewise.Stage{Name: name, Took: time.Since(start)})
	return err
}

// Took says where the time of the last Snapshot or Reset went.
func (r *resetter) Took() []filewise.Stage {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]filewise.Stage(nil), r.took...)
}
