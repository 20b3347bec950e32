package fake

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"sync"
	"sync/atomic"
	"time"

	"filewise"
)

// rows holds the operations that a connection has committed, as ranges. An operation that is committed twice is two
// rows, as in a table without a key.
type rows struct {
	mu     sync.Mutex
	ranges [][2]int64 // first, and one past the last
}

func (r *rows) add(first, n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if last := len(r.ranges) - 1; last >= 0 && r.ranges[last][1] == first {
		r.ranges[last][1] += n
		return
	}
	r.ranges = append(r.ranges, [2]int64{first, first + n})
}

type database struct {
	e          *Engine
	t          filewise.Target
	l          filewise.Layout
	p          filewise.Program
	build      int
	own        float64 // operations per second of this build, without a trial's noise
	throughput float64 // operations per second of this trial
	down       bool    // shut down or crashed
	crashed    bool
	opens      uint64
	committed  []rows // by connection
	done       atomic.Int64
	written    atomic.Int64 // operations that the last Settle left nothing of
	worked     atomic.Bool
	sessions   atomic.Int64 // open ones
	extended   atomic.Bool
	loaded     int64 // bytes that were there when files were added

	mu      sync.Mutex
	since   time.Time // when the first connection came
	inTurn  bool      // since the first operations after the last settling, guarded by the engine's mu
	turn    float64   // the disturbance of it, a factor
	dropped bool
}

// stage records a call, and fails if a fault is planted for it.
func (d *database) stage(ctx context.Context, stage string) error {
	if err := d.e.call(ctx, stage, d.l.Name); err != nil {
		return err
	}
	if f := d.e.fault(stage, d.l.Name, d.build); f != nil {
		return f.err(stage, d.l.Name)
	}
	return nil
}

// Observe returns the files as asked for, or, if that is planted, one less.
func (d *database) Observe(ctx context.Context) ([]filewise.File, error) {
	if err := d.e.call(ctx, filewise.StageObserve, d.l.Name); err != nil {
		return nil, err
	}
	asked := files(d.t, d.l)
	found := asked
	if d.l.AddedLater != "" {
		if !d.extended.Load() {
			asked = asked[:1]
		}
		found = d.filled(asked)
	}
	if f := d.e.fault(filewise.StageObserve, d.l.Name, d.build); f != nil {
		if f.Err != nil {
			return nil, f.err(filewise.StageObserve, d.l.Name)
		}
		found = found[:len(found)-1]
	}
	return found, d.l.Verify(asked, found, d.worked.Load())
}

// Settle records the call, and writes the pending changes. A build's first call is its stage settle, and later calls are
// the drain.
func (d *database) Settle(ctx context.Context) error {
	d.e.mu.Lock()
	d.inTurn = false
	d.e.mu.Unlock()
	d.write()
	if d.worked.Load() {
		return d.stage(ctx, filewise.StageDrain)
	}
	return d.stage(ctx, filewise.StageSettle)
}

// write advances the clock by the time that the pending changes need.
func (d *database) write() {
	done := d.done.Load()
	written := d.written.Swap(done)
	if write := d.e.config.Drain; write != nil && done > written {
		d.e.clock.Advance(write(d.l, done-written))
	}
}

// settled returns the planted share of others' changes.
func (d *database) settled(context.Context) (filewise.Settled, error) {
	return filewise.Settled{Others: d.e.config.Others}, nil
}

// Connect opens a connection.
func (d *database) Connect(ctx context.Context, phase, worker int) (filewise.Session, error) {
	if phase < 0 || phase >= len(d.p.Phases) {
		return nil, fmt.Errorf("phase %d of %d", phase, len(d.p.Phases))
	}
	x := d.p.Phases[phase]
	if x.Act != filewise.ActWork {
		return nil, fmt.Errorf("a connection for %s, which has none", x.Operation)
	}
	if worker < 0 || worker >= x.Connections {
		return nil, fmt.Errorf("connection %d of a workload with %d", worker, x.Connections)
	}
	if err := d.stage(ctx, "connect"); err != nil {
		return nil, err
	}
	if d.down {
		return nil, errors.New("the database is down")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dropped {
		return nil, errors.New("the database was dropped")
	}
	if !d.worked.Swap(true) {
		d.since = d.e.clock.Now()
	}
	d.sessions.Add(1)
	return &session{d: d, phase: x, worker: worker, faulty: d.faulty()}, nil
}

// faulty reports whether a fault can occur in the middle of the work.
func (d *database) faulty() bool {
	for _, f := range d.e.config.Faults {
		if f.Stage == filewise.StageMeasure {
			return true
		}
	}
	return false
}

// Query answers section check from the recorded rows. Planted losses are left out.
func (d *database) Query(ctx context.Context, section string) ([][]any, error) {
	if section != "check" {
		return nil, fmt.Errorf("no section %q on %s: %w", section, Name, filewise.ErrUnsupported)
	}
	if err := d.e.call(ctx, filewise.StageCheck, d.l.Name); err != nil {
		return nil, err
	}
	f := d.e.fault(filewise.StageCheck, d.l.Name, d.build)
	if f != nil && f.Err != nil {
		return nil, f.err(filewise.StageCheck, d.l.Name)
	}
	var n, sum int64
	var args []any
	for w := range d.committed {
		for _, r := range d.committed[w].ranges {
			for i := r[0]; i < r[1]; i++ {
				args = d.p.First().Args.Args(args[:0], w, i)
				sum += int64(crc32.ChecksumIEEE(fmt.Appendf(nil, "%v,%v", args...)))
				n++
			}
		}
	}
	if f != nil {
		return [][]any{{n - 1, sum}}, nil // a row is lost
	}
	return [][]any{{n, sum}}, nil
}

// Drop ends the build, unless a failure is planted.
func (d *database) Drop(ctx context.Context) error {
	if err := d.stage(ctx, filewise.StageDrop); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.dropped {
		d.dropped = true
		d.e.mu.Lock()
		d.e.open--
		d.e.mu.Unlock()
	}
	return nil
}

// Name returns the probe's name.
func (*database) Name() string { return Name }

// Read returns the number of operations done.
func (d *database) Read(context.Context) ([]filewise.Counter, error) {
	return []filewise.Counter{{Name: "operations", Unit: "operations", Value: float64(d.done.Load())}}, nil
}

// LoadBatch takes the time of stage load, or fails if that is planted.
func (d *database) LoadBatch(ctx context.Context, _ filewise.TableData, _ int64) error {
	return d.stage(ctx, filewise.StageLoad)
}

// Finish ends the load.
func (d *database) Finish(ctx context.Context) error { return d.stage(ctx, "finish") }

// backuper takes the planted time for a backup or a restore, and a second more, which is not part of the statement.
type backuper struct {
	d    *database
	took time.Duration
}

// Took returns the planted time of the last backup or restore.
func (b *backuper) Took() time.Duration { return b.took }

func (b *backuper) act(ctx context.Context, act filewise.Act) (err error) {
	b.d.e.clock.Advance(time.Second)
	b.took, err = b.d.lifecycle(ctx, string(act))
	return err
}

func (b *backuper) Backup(ctx context.Context) ([]filewise.File, error) {
	err := b.act(ctx, filewise.ActBackup)
	var files []filewise.File
	for i := range max(b.d.l.Backup.Files, 1) {
		v := b.d.t.Volumes[0].Name
		if len(b.d.l.BackupVolumes(b.d.t.Volumes)) > 0 {
			v = b.d.l.BackupVolumeOf(i, b.d.t.Volumes).Name
		}
		files = append(files, filewise.File{Role: filewise.RoleBackup, Volume: v, Path: fmt.Sprintf("/fake/%s/backup-%d", v, i+1), Bytes: unit})
	}
	return files, err
}

func (b *backuper) Restore(ctx context.Context) error { return b.act(ctx, filewise.ActRestore) }

func (b *backuper) Verify(ctx context.Context) error  { return b.d.stage(ctx, "verify") }
func (b *backuper) Discard(ctx context.Context) error { return b.d.stage(ctx, "discard") }
