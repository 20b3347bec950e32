package experiment

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"filewise"
	"filewise/lab/drive"
	"filewise/lab/verdict"
)

// build is one physical placement of a layout. A loaded one serves several
// trials: it is reset for each, and at rest in between.
type build struct {
	name    string // unique in the run. Empty means for one trial only
	db      *filewise.Database
	loaded  filewise.Ledger
	done    []filewise.Ledger // of each phase, by a pilot that has left it
	resting bool              // its server is stopped, and its data as they were loaded
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

// acquired gets the trial's database: built again, loaded if the plan demands it, or a loaded build in its state
// after loading.
func (l *life) acquired(ctx context.Context) error {
	if l.build = l.runner.builtAs(l.instanceKey()); l.build == nil {
		if err := l.newBuild(ctx); err != nil {
			return errors.Join(err, l.release(ctx, err))
		}
	}
	l.db, l.trial.Instance = l.build.db, l.build.name
	l.ledgers[0] = l.build.loaded
	if l.build.name == "" || l.program.ReadOnly && !l.build.resting {
		return nil
	}
	again := l.build.wake
	if !l.program.ReadOnly {
		again = l.db.Reset.Reset
	}
	err := l.stage(ctx, filewise.StageReset, again)
	l.splitReset()
	if err != nil {
		return errors.Join(err, l.release(ctx, err))
	}
	return nil
}

// acquire gets the trial's database. On the first one custom SQL is rehearsed; if some of it is left out, the
// database is built again, without that.
func (l *life) acquire(ctx context.Context) error {
	if err := l.acquired(ctx); err != nil || l.runner.Drivers != nil {
		return err
	}
	err := l.rehearsed(ctx)
	if err == nil {
		return nil
	}
	err = errors.Join(err, l.release(ctx, err))
	if !errors.Is(err, errLeftOut) {
		return err
	}
	l.program = l.runner.Plan.Program(l.runner.Workload)
	return l.acquire(ctx)
}

// splitReset books the parts of a reset apart, if the engine reports them: stop and start of a server are not the
// copy.
func (l *life) splitReset() {
	timed, ok := l.db.Reset.(filewise.Timed)
	if !ok || l.program.ReadOnly {
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

// newBuild builds the layout, loads it and adds the files that come later. If the engine can reset it to that state
// it is kept for the trials to come.
func (l *life) newBuild(ctx context.Context) error {
	// One at a time: servers that start side by side would wait for each other.
	l.runner.locks.building.Lock()
	err := l.stage(ctx, filewise.StageBuild, func(ctx context.Context) (err error) {
		l.db, err = l.runner.Server.Build(ctx, l.layout, l.program)
		l.build = &build{db: l.db}
		return err
	})
	l.runner.locks.building.Unlock()
	if err != nil {
		return err
	}
	if first := l.db.First; first > 0 {
		l.trial.Stages[len(l.trial.Stages)-1].Took -= first
		l.trial.Stages = append(l.trial.Stages, filewise.Stage{Name: filewise.StageCreate, Took: first})
	}
	loadable, loaded := l.runner.Workload.(filewise.Loadable)
	switch {
	case loaded:
		err = l.stage(ctx, filewise.StageLoad, func(ctx context.Context) error { return Load(ctx, l.db.Bulk, loadable.Data()) })
	case l.program.Restored(): // as it was built
		loaded = true
	case l.copies():
		return l.copied(ctx)
	case l.runner.Plan.Preload > 0:
		loaded = true
		err = l.stage(ctx, filewise.StageLoad, l.preload)
	}
	if err != nil {
		return err
	}
	if l.layout.AddedLater != "" {
		if err := l.stage(ctx, filewise.StageExtend, l.extend); err != nil {
			return err
		}
	}
	switch {
	case !loaded, (l.program.ReadOnly || l.runner.Plan.Sessions) && l.runner.Plan.Instances == 0:
		return nil // of a session all turns are on it
	case l.program.ReadOnly: // it stays as it is, and needs no reset
		l.name()
		return nil
	case l.db.Reset == nil && l.program.Restored():
		return nil
	case l.db.Reset == nil:
		l.trial.Warnings = append(l.trial.Warnings, loadedAnew)
		return nil
	}
	return l.stage(ctx, filewise.StageLoad, l.keep)
}

// copies reports whether a layout is loaded once, and every trial has a copy of its own.
func (l *life) copies() bool {
	return l.runner.Plan.Preload > 0 && l.runner.Plan.Instances == 0 && l.db.Copier != nil
}

// copied loads the first build of a layout, and keeps it for the next ones.
func (l *life) copied(ctx context.Context) error {
	r, name := l.runner, l.layout.Name
	if !l.db.Copied {
		for _, step := range []func(context.Context) error{l.preload, l.db.Copier.Keep} {
			if err := l.stage(ctx, filewise.StageCreate, step); err != nil {
				return err
			}
		}
	}
	r.locks.builds.Lock()
	defer r.locks.builds.Unlock()
	if l.db.Copied {
		l.build.loaded = r.loaded[name]
	} else {
		r.loaded[name] = l.build.loaded
	}
	return nil
}

// loadedAnew is true of servers that Filewise may not stop.
var loadedAnew = filewise.Warning{
	Code:    "loaded-anew",
	Message: "This server cannot be brought back to a loaded state, so every trial rebuilds and reloads its database.",
	Remedy:  "Count on the time of loading for each trial, or load less (--preload).",
}

// preload loads a build, whose connections are closed then.
func (l *life) preload(ctx context.Context) error {
	err := l.fill(ctx, l.runner.Plan.Preload)
	l.build.loaded = l.ledgers[0]
	return err
}

// extend adds the layout's further files, and looks whether they are there.
func (l *life) extend(ctx context.Context) error {
	if l.db.Extender == nil {
		return fmt.Errorf("files of %s cannot be added later on this engine: %w", l.layout.Name, filewise.ErrUnsupported)
	}
	if err := l.db.Extender.Extend(ctx); err != nil {
		return err
	}
	_, err := l.db.Observer.Observe(ctx)
	return err
}

// keep takes the snapshot that a loaded build is reset to, and names the build. If the plan demands it and the engine
// can, the next builds of the layout begin as copies of it.
func (l *life) keep(ctx context.Context) error {
	if err := l.db.Reset.Snapshot(ctx); err != nil {
		return err
	}
	if l.name(); !l.runner.Plan.CopiedBuilds || l.db.Copier == nil || l.db.Copied {
		return nil
	}
	r := l.runner
	r.locks.builds.Lock()
	r.copied[l.layout.Name] = l.build.name
	r.locks.builds.Unlock()
	return l.db.Copier.Keep(ctx)
}

// name gives the build a name of its own and keeps it for the trials to come.
func (l *life) name() {
	r := l.runner
	r.locks.builds.Lock()
	defer r.locks.builds.Unlock()
	r.serial++
	if l.build.name = l.layout.Name + instanceSeparator + strconv.Itoa(r.serial); l.db.Copied {
		l.build.name = verdict.CopyOf(r.copied[l.layout.Name], r.serial)
	}
	r.builds[l.instanceKey()] = l.build
}

// builtAs is the loaded build of a key. Nil means there is none.
func (r *Runner) builtAs(key string) *build {
	r.locks.builds.Lock()
	defer r.locks.builds.Unlock()
	return r.builds[key]
}

// handedOver begins the keys of builds that pilots leave to the first session.
const handedOver = "of the pilot: "

// handsOver reports whether the first session can go on from a pilot's end: its build is for one trial only, and
// there is no fixed work that has to begin at the beginning.
func (l *life) handsOver() bool {
	return l.build != nil && l.build.name == "" && l.runner.Plan.Work == 0
}

// handOver leaves the build to the layout's trial in the first session.
func (l *life) handOver() {
	if !l.handsOver() {
		return
	}
	l.build.done = l.ledgers
	l.runner.builds[handedOver+l.layout.Name] = l.build
}

// takeOver goes on with what a pilot has left, if it has.
func (l *life) takeOver() bool {
	r := l.runner
	if l.trial.Cell.Pilot {
		return false
	}
	r.locks.builds.Lock()
	defer r.locks.builds.Unlock()
	l.build = r.builds[handedOver+l.layout.Name]
	delete(r.builds, handedOver+l.layout.Name)
	if l.build == nil {
		return false
	}
	l.db, l.ledgers = l.build.db, l.build.done
	return true
}

// fill commits a number of payload bytes, split evenly over the connections.
func (l *life) fill(ctx context.Context, bytes int64) error {
	if l.program.ReadOnly { // all data were loaded
		return nil
	}
	return l.unmeasured(ctx, 0, "while it was loaded or worked on, unmeasured", func(load *drive.Load, p filewise.Phase) {
		load.Ops = opsOf(bytes/p.OpBytes, len(load.Sessions))
	})
}

// release gives the trial's database back: a build for one trial, or one on
// which something failed, is dropped; a loaded one comes to rest.
func (l *life) release(ctx context.Context, cause error) error {
	if l.build == nil || l.build.db == nil {
		return nil
	}
	ctx, cancel := dropping(ctx)
	defer cancel()
	b := l.build
	if err := errors.Join(l.closeDone(), l.closeOpen()); err != nil && cause == nil {
		return errors.Join(err, l.release(ctx, err))
	}
	if b.name != "" && cause == nil {
		rest := b.rest
		if l.program.ReadOnly {
			rest = b.sleep
		}
		err := l.stage(ctx, filewise.StageStop, rest)
		if err == nil {
			l.build = nil
		}
		return err
	}
	l.runner.locks.builds.Lock()
	maps.DeleteFunc(l.runner.builds, func(_ string, other *build) bool { return other == b })
	l.runner.locks.builds.Unlock()
	l.build = nil
	err := l.stage(ctx, filewise.StageDrop, b.db.Dropper.Drop)
	if cause != nil {
		return err
	}
	return l.leftOver(err)
}

// mostLeftOver is the number of databases in a row that may stay before a trial fails by that.
const mostLeftOver = 3

// leftOver notes that the database of a trial could not be dropped. What was measured and checked
// before counts: another program may hold a file open, or the server be busy.
func (l *life) leftOver(err error) error {
	r := l.runner
	r.locks.builds.Lock()
	defer r.locks.builds.Unlock()
	if err == nil {
		r.leftovers = 0
		return nil
	}
	if r.leftovers++; r.leftovers > mostLeftOver {
		return fmt.Errorf("%s in a row could not be dropped: %w", filewise.Counted(r.leftovers, "database"), err)
	}
	l.trial.Warnings = append(l.trial.Warnings, filewise.Warning{Code: "left-over",
		Message: fmt.Sprintf("The trial counts, but its database could not be dropped: %v.", err),
		Remedy:  "Run “filewise clean” (on a server by URL with its --target) once the cause is gone."})
	return nil
}

// dropping is the context of a clean-up, which may take its time until the run is interrupted.
func dropping(ctx context.Context) (context.Context, func()) {
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), dropPatience)
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(dropTimeout, cancel) })
	return bounded, func() { stop(); cancel() }
}

// rest stops the build's server, whose state the next reset throws away, so that
// it does not disturb the trials of others.
func (b *build) rest(ctx context.Context) error {
	if b.db.Lifecycle == nil {
		return settle(ctx, b.db.Settler)
	}
	return b.db.Lifecycle.Crash(ctx)
}

// sleep stops the server of a build whose data stay as they are.
func (b *build) sleep(ctx context.Context) error {
	if b.db.Lifecycle == nil {
		return settle(ctx, b.db.Settler)
	}
	b.resting = true
	_, err := b.db.Lifecycle.Shutdown(ctx)
	return err
}

// wake starts it again.
func (b *build) wake(ctx context.Context) error {
	_, err := b.db.Lifecycle.Open(ctx)
	b.resting = err != nil
	return err
}

// dropBuilds drops all loaded builds at the end of a run.
func (r *Runner) dropBuilds(ctx context.Context) error {
	ctx, cancel := dropping(ctx)
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
