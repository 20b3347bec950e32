package postgres

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"filewise"
	"filewise/engine/internal/managed"
	"filewise/internal/filesystem"
)

type restarter struct{ instance *instance }

// Restart stops the server cleanly and starts it again, with nothing in its
// buffers.
func (r restarter) Restart(ctx context.Context) error {
	if err := r.instance.up(); err != nil {
		return failed("restart", err)
	}
	if err := r.instance.stop(ctx); err != nil {
		return failed("restart", err)
	}
	return failed("restart", r.instance.start(ctx))
}

type evicter struct{ instance *instance }

// Evict stops the server cleanly, drops the pages of every file of its from the
// system's cache, and starts it again.
func (e evicter) Evict(ctx context.Context) error {
	i := e.instance
	if err := i.up(); err != nil {
		return failed("evicting", err)
	}
	if err := i.stop(ctx); err != nil {
		return failed("evicting", err)
	}
	for _, dir := range i.sites.dirs {
		if err := filesystem.SyncAround(dir); err != nil { // pages that are not written stay
			return failed("evicting", err)
		}
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return err
			}
			return managed.Evict(path)
		})
		if err != nil {
			return failed("evicting", err)
		}
	}
	return failed("evicting", i.start(ctx))
}

// lifecycle times the server's life cycle. It implements filewise.Lifecycle.
type lifecycle struct {
	instance *instance
	build    *build
}

// Checkpoint writes everything dirty to the data files.
func (l lifecycle) Checkpoint(ctx context.Context) (time.Duration, error) {
	start := time.Now()
	err := settler{l.build}.Settle(ctx)
	return time.Since(start), err
}

// Shutdown stops the server as its administrator would (“fast shutdown”).
func (l lifecycle) Shutdown(ctx context.Context) (time.Duration, error) {
	if err := l.instance.up(); err != nil {
		return 0, failed("shutdown", err)
	}
	start := time.Now()
	err := l.instance.stop(ctx)
	return time.Since(start), failed("shutdown", err)
}

// Crash kills the server: SIGKILL, as the kernel would for want of memory. The
// operating system goes on, so what was written but not synced is not lost.
func (l lifecycle) Crash(context.Context) error {
	if err := l.instance.up(); err != nil {
		return failed("crash", err)
	}
	l.instance.kill()
	return nil
}

var errRuns = errors.New("the server runs already")

// Open starts the server until it answers; after Crash, recovery included.
func (l lifecycle) Open(ctx context.Context) (time.Duration, error) {
	if l.instance.running() != nil {
		return 0, failed("open", errRuns)
	}
	start := time.Now()
	err := l.instance.start(ctx)
	return time.Since(start), failed("open", err)
}

// snapshotSuffix names the copy of a build's directory, beside it on its volume.
const snapshotSuffix = ".snapshot"

// resetter keeps a copy of the cleanly shut-down server.
type resetter struct {
	instance *instance

	mu       sync.Mutex
	snapshot *managed.Snapshot
	took     []filewise.Stage
}

// Snapshot shuts the server down cleanly, copies its files and starts it again.
func (r *resetter) Snapshot(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.took = nil
	i := r.instance
	if err := i.up(); err != nil {
		return failed("snapshot", err)
	}
	if err := r.stage("stop", func() error { return i.stop(ctx) }); err != nil {
		return failed("snapshot", err)
	}
	err := r.stage("copy", func() (err error) {
		r.snapshot, err = managed.Take(ctx, i.sites.dirs, func(root string) string { return root + snapshotSuffix })
		return err
	})
	if err != nil {
		return failed("snapshot", classify(err))
	}
	return failed("snapshot", r.stage("start", func() error { return i.start(ctx) }))
}

// Reset ends the server at once, since what it holds is thrown away, restores
// the files that were written since the snapshot, and starts it again.
func (r *resetter) Reset(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.took = nil
	i := r.instance
	if r.snapshot == nil {
		return filewise.Errorf(filewise.CodeInternal, "", "reset of %s: there is no snapshot", i.design.layout.Name)
	}
	_ = r.stage("stop", func() error { i.quit(); return nil })
	err := r.stage("copy", func() error {
		if _, err := r.snapshot.Restore(ctx); err != nil {
			return err
		}
		for _, dir := range i.sites.dirs { // files that were gone have been made anew
			if err := i.account.own(dir); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return failed("reset", classify(err))
	}
	return failed("reset", r.stage("start", func() error { return i.start(ctx) }))
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
