package fake

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"filewise"
)

// resetter stores the rows of a snapshot.
type resetter struct {
	d        *database
	snapshot [][][2]int64 // ranges by connection. Nil means none taken
	resets   uint64
}

// Snapshot stores the present rows.
func (r *resetter) Snapshot(ctx context.Context) error {
	if err := r.d.stage(ctx, "snapshot"); err != nil {
		return err
	}
	r.snapshot = make([][][2]int64, len(r.d.committed))
	for w := range r.d.committed {
		r.snapshot[w] = append([][2]int64(nil), r.d.committed[w].ranges...)
	}
	return nil
}

// Reset restores the rows of the snapshot, and draws the noise of the next trial. The build's lasting effect stays.
func (r *resetter) Reset(ctx context.Context) error {
	if r.snapshot == nil {
		return errors.New("there is no snapshot to reset to")
	}
	if err := r.d.stage(ctx, filewise.StageReset); err != nil {
		return err
	}
	for w, ranges := range r.snapshot {
		r.d.committed[w].ranges = append([][2]int64(nil), ranges...)
	}
	r.resets++
	noise := rand.New(rand.NewPCG(r.d.e.config.Seed^r.resets<<32, uint64(r.d.build)))
	r.d.throughput = r.d.own * math.Exp(r.d.e.config.Noise*noise.NormFloat64()) * r.d.e.disturbed(r.d.l)
	r.d.down = false
	return nil
}

// Took returns no parts.
func (r *resetter) Took() []filewise.Stage { return nil }

// Checkpoint takes its planted time.
func (d *database) Checkpoint(ctx context.Context) (time.Duration, error) {
	return d.lifecycle(ctx, "checkpoint")
}

// Shutdown takes its planted time; nothing works until Open.
func (d *database) Shutdown(ctx context.Context) (time.Duration, error) {
	took, err := d.lifecycle(ctx, "shutdown")
	d.down = true
	return took, err
}

// Crash takes no time; nothing works until Open.
func (d *database) Crash(ctx context.Context) error {
	d.down, d.crashed = true, true
	return d.stage(ctx, "crash")
}

// Open takes the planted time of an open, or after a crash of a recovery.
func (d *database) Open(ctx context.Context) (time.Duration, error) {
	if !d.down {
		return 0, errors.New("the database is open")
	}
	operation := "open"
	if d.crashed {
		operation = "recovery"
	}
	d.down, d.crashed = false, false
	d.opens++
	noise := rand.New(rand.NewPCG(d.e.config.Seed^d.opens<<40, uint64(d.build)))
	d.throughput = d.own * math.Exp(d.e.config.Noise*noise.NormFloat64()) * d.e.disturbed(d.l)
	return d.lifecycle(ctx, operation)
}

// Cycle takes the planted times of a shutdown and an open, while the server goes on.
func (d *database) Cycle(ctx context.Context) (offline, online time.Duration, err error) {
	if offline, err = d.lifecycle(ctx, "shutdown"); err == nil {
		online, err = d.lifecycle(ctx, "open")
	}
	return offline, online, err
}

func (d *database) lifecycle(ctx context.Context, operation string) (time.Duration, error) {
	if d.down {
		return 0, fmt.Errorf("%s: the database is down", operation)
	}
	if err := d.stage(ctx, operation); err != nil {
		return 0, err
	}
	took := 100 * time.Millisecond
	if d.e.config.Life != nil {
		took = d.e.config.Life(d.l, operation)
	}
	noise := rand.New(rand.NewPCG(d.e.config.Seed^d.opens<<48, uint64(d.build)<<8|uint64(len(operation))))
	took = time.Duration(float64(took) * math.Exp(d.e.config.Noise*noise.NormFloat64()))
	d.e.clock.Advance(took)
	return took, nil
}

// keep stores the present rows, with which a build was loaded.
func (d *database) keep(ctx context.Context) error {
	if err := d.stage(ctx, filewise.StageCreate); err != nil {
		return err
	}
	d.e.mu.Lock()
	defer d.e.mu.Unlock()
	if d.e.kept == nil {
		d.e.kept = map[string][]rows{}
	}
	d.e.kept[d.l.Name] = copied(d.committed)
	return nil
}

// fromKept reports whether the rows come from a stored build.
func (d *database) fromKept() bool {
	d.e.mu.Lock()
	defer d.e.mu.Unlock()
	kept, ok := d.e.kept[d.l.Name]
	if ok {
		d.committed = copied(kept)
	}
	return ok
}

func copied(all []rows) []rows {
	out := make([]rows, len(all))
	for w := range all {
		out[w].ranges = slices.Clone(all[w].ranges)
	}
	return out
}
