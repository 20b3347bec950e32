package experiment

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"filewise"
	"filewise/drive"
)

// build is one physical placement of a layout. A loaded one serves several
// trials: it is reset for each, and at rest in between.
type build struct {
	name   string // unique in the run; empty: for one trial only
	db     *filewise.Database
	loaded filewise.Ledger
}

// instanceSeparator stands between a layout's name and the serial number of the
// build in an instance's name.
const instanceSeparator = " #"

// lastSerial is the highest serial number of a build that trials ran on, so that
// a resumed run, whose builds are gone, names its own differently.
func lastSerial(done []filewise.Trial) int {
	last := 0
	for _, t := range done {
		if i := strings.LastIndex(t.Instance, instanceSeparator); i >= 0 {
			if n, err := strconv.Atoi(t.Instance[i+len(instanceSeparator):]); err == nil {
				last = max(last, n)
			}
		}
	}
	return last
}

// acquire gets the trial's database: built anew, or a loaded build in its state
// after loading.
func (l *life) acquire(ctx context.Context) error {
	if l.runner.Plan.Preload == 0 {
		return l.stage(ctx, filewise.StageBuild, func(ctx context.Context) (err error) {
			l.build, err = l.newBuild(ctx, "")
			return err
		})
	}
	key := l.instanceKey()
	if l.build = l.runner.builds[key]; l.build == nil {
		if err := l.preload(ctx, key); err != nil {
			return err
		}
	}
	l.db, l.ledger, l.trial.Instance = l.build.db, l.build.loaded, l.build.name
	err := l.stage(ctx, filewise.StageReset, l.db.Reset.Reset)
	l.splitReset()
	if err != nil {
		return errors.Join(err, l.release(ctx, err))
	}
	return nil
}

// splitReset books the parts of a reset apart, where the engine tells: stop and
// start of a server are not the copy.
func (l *life) splitReset() {
	timed, ok := l.db.Reset.(filewise.Timed)
	if !ok {
		return
	}
	last := &l.trial.Stages[len(l.trial.Stages)-1]
	var parts []filewise.Stage
	for _, part := range timed.Took() {
		parts = append(parts, filewise.Stage{Name: filewise.StageReset + ": " + part.Name, Took: part.Took})
		last.Took -= part.Took
	}
	l.trial.Stages = append(l.trial.Stages, parts...)
}

// instanceKey spreads the instances of a layout evenly over the blocks.
func (l *life) instanceKey() string {
	turn := max(l.trial.Cell.Block-1, 0) % max(l.runner.Plan.Instances, 1)
	return l.layout.Name + instanceSeparator + strconv.Itoa(turn)
}

func (l *life) newBuild(ctx context.Context, name string) (*build, error) {
	db, err := l.runner.Server.Build(ctx, l.layout, l.program)
	l.db = db
	return &build{name: name, db: db}, err
}

// preload makes a build, loads it, and takes the snapshot that it is reset to.
func (l *life) preload(ctx context.Context, key string) error {
	l.runner.serial++
	name := l.layout.Name + instanceSeparator + strconv.Itoa(l.runner.serial)
	err := l.stage(ctx, filewise.StageBuild, func(ctx context.Context) (err error) {
		l.build, err = l.newBuild(ctx, name)
		return err
	})
	if err != nil {
		return err
	}
	l.runner.builds[key] = l.build
	err = l.stage(ctx, filewise.StageLoad, func(ctx context.Context) error {
		if l.db.Reset == nil {
			return fmt.Errorf("a loaded build cannot be reset on this engine: %w", filewise.ErrUnsupported)
		}
		if err := l.fill(ctx, l.runner.Plan.Preload); err != nil {
			return err
		}
		l.build.loaded = l.ledger
		return l.db.Reset.Snapshot(ctx)
	})
	if err != nil {
		return errors.Join(err, l.release(ctx, err))
	}
	return nil
}

// fill commits a number of payload bytes, split evenly over the connections.
func (l *life) fill(ctx context.Context, bytes int64) (err error) {
	sessions, err := l.connect(ctx)
	defer func() { err = errors.Join(err, closeAll(sessions)) }()
	if err != nil {
		return err
	}
	result, err := drive.Run(ctx, drive.Load{
		Sessions: sessions, Clock: l.runner.Clock, Chunk: l.db.Chunk, Multiple: int64(l.program.CommitEvery),
		Ops: opsOf(bytes/l.program.OpBytes, len(sessions)),
	})
	l.ledger = l.ledger.Plus(result.Ledger)
	return err
}

// release gives the trial's database back: a build for one trial, or one on
// which something failed, is dropped; a loaded one comes to rest.
func (l *life) release(ctx context.Context, cause error) error {
	if l.build == nil || l.build.db == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dropTimeout)
	defer cancel()
	b := l.build
	if b.name != "" && cause == nil {
		return l.stage(ctx, filewise.StageStop, b.rest)
	}
	for key, other := range l.runner.builds {
		if other == b {
			delete(l.runner.builds, key)
		}
	}
	l.build = nil
	return l.stage(ctx, filewise.StageDrop, b.db.Dropper.Drop)
}

// rest stops the build's server, whose state the next reset throws away, so that
// it does not disturb the trials of others.
func (b *build) rest(ctx context.Context) error {
	if b.db.Lifecycle == nil {
		return b.db.Settler.Settle(ctx)
	}
	return b.db.Lifecycle.Crash(ctx)
}

// dropBuilds drops all loaded builds at the end of a run.
func (r *Runner) dropBuilds(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dropTimeout)
	defer cancel()
	var errs []error
	for _, b := range r.builds {
		errs = append(errs, b.db.Dropper.Drop(ctx))
	}
	r.builds = nil
	return errors.Join(errs...)
}

// after is a connection to a database in which some of its operations are done
// already.
type after struct {
	filewise.Session
	done int64
}

// Do executes the operations that come after those.
func (s after) Do(ctx context.Context, first, n int64) (int64, error) {
	return s.Session.Do(ctx, s.done+first, n)
}
