package server

import (
	"context"
	"sync"
	"time"

	"filewise"
)

// snapshotSuffix is appended to the name of a server's directory to name its copy, on the same volume.
const snapshotSuffix = ".snapshot"

// Resetter resets a server to a copy that was made after a clean shutdown. It implements filewise.Resetter and Timed.
type Resetter struct {
	life *Life

	mu       sync.Mutex
	snapshot *Snapshot
	took     []filewise.Stage
}

// NewResetter returns a server's resetter, which has no snapshot yet.
func NewResetter(l *Life) *Resetter { return &Resetter{life: l} }

// Snapshot shuts the server down cleanly, copies its files and starts it again.
func (r *Resetter) Snapshot(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.took = nil
	c := r.life.control
	if _, err := r.life.Running(); err != nil {
		return Failed("snapshot", err)
	}
	if c.Prepare != nil {
		if err := c.Prepare(ctx); err != nil {
			return Failed("snapshot", err)
		}
	}
	if err := r.stage("stop", func() error { return r.life.Stop(ctx) }); err != nil {
		return Failed("snapshot", err)
	}
	err := r.stage("copy", func() (err error) {
		r.snapshot, err = Take(ctx, c.Dirs, func(root string) string { return root + snapshotSuffix })
		return err
	})
	if err != nil {
		return Failed("snapshot", c.Explain(err))
	}
	return Failed("snapshot", r.stage("start", func() error { return r.life.Start(ctx) }))
}

// Reset ends the server at once, because what it holds is thrown away. It restores the files that were written since
// the snapshot, and starts the server again.
func (r *Resetter) Reset(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.took = nil
	c := r.life.control
	if r.snapshot == nil {
		return filewise.Errorf(filewise.CodeInternal, "", "reset of %s: there is no snapshot", c.Name)
	}
	_ = r.stage("stop", func() error { r.life.Quit(); return nil })
	err := r.stage("copy", func() error {
		if _, err := r.snapshot.Restore(ctx); err != nil || c.Restored == nil {
			return err
		}
		return c.Restored()
	})
	if err != nil {
		return Failed("reset", c.Explain(err))
	}
	return Failed("reset", r.stage("start", func() error { return r.life.Start(ctx) }))
}

func (r *Resetter) stage(name string, do func() error) error {
	start := time.Now()
	err := do()
	r.took = append(r.took, filewise.Stage{Name: name, Took: time.Since(start)})
	return err
}

// Took returns how long each stage of the last Snapshot or Reset took.
func (r *Resetter) Took() []filewise.Stage {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]filewise.Stage(nil), r.took...)
}
