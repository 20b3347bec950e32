package experiment

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"filewise"
	"filewise/lab/drive"
	"filewise/lab/verdict"
)

// build is one physical database built with a layout. If it was loaded, it serves several trials: it is reset before
// each and stopped in between.
type build struct {
	name    string // unique in the run. Empty if the build serves one trial only
	db      *filewise.Database
	loaded  filewise.Ledger
	done    []filewise.Ledger // operations done per phase, if a pilot left this build
	resting bool              // its server is stopped, its data unchanged since loading
}

// buildSeparator separates a layout's name from the build's serial number in its name.
const buildSeparator = " #"

// lastSerial returns the highest serial number of the builds that trials ran on. A resumed run has lost its builds, so
// it numbers new builds from there.
func lastSerial(done []filewise.Trial) int {
	last := 0
	for _, t := range done {
		if i := strings.LastIndex(t.Build, buildSeparator); i >= 0 {
			if n, err := strconv.Atoi(t.Build[i+len(buildSeparator):]); err == nil {
				last = max(last, n)
			}
		}
	}
	return last
}

// acquired gets the trial's database. It resets the loaded build for this key, if there is one. Otherwise it builds the
// database, and loads it if the plan demands that.
func (l *life) acquired(ctx context.Context) error {
	if l.build = l.runner.builtAs(l.buildKey()); l.build == nil {
		if err := l.newBuild(ctx); err != nil {
			return errors.Join(err, l.release(ctx, err))
		}
	}
	l.db, l.trial.Build = l.build.db, l.build.name
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

// acquire gets the trial's database. On the first database it rehearses custom SQL. If a rehearsal leaves some of the
// SQL out, acquire rebuilds the database without that SQL.
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

// splitReset books the parts of a reset as separate stages, if the engine reports them: stopping and starting a server
// is not copying.
func (l *life) splitReset() {
	if l.program.ReadOnly {
		return
	}
	last := &l.trial.Stages[len(l.trial.Stages)-1]
	var parts []filewise.Stage
	for _, part := range l.db.Reset.Took() {
		parts = append(parts, filewise.Stage{Name: filewise.StageReset + ": " + part.Name, Took: part.Took})
		last.Took -= part.Took
	}
	l.trial.Stages = append(l.trial.Stages, parts...)
}

// buildKey returns the key of the build for this trial's block. It assigns a layout's builds to the blocks in turn.
func (l *life) buildKey() string {
	turn := max(l.trial.Cell.Block-1, 0) % max(l.runner.Plan.Builds, 1)
	return l.layout.Name + buildSeparator + strconv.Itoa(turn)
}

// newBuild builds the layout, loads it and adds the files that come later. If the engine can reset the build to that
// state, newBuild keeps it for later trials.
func (l *life) newBuild(ctx context.Context) error {
	// One at a time: servers that start at the same time would slow each other down.
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
	case l.program.Restored(): // the dump was restored while it was built
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
	case !loaded, (l.program.ReadOnly || l.runner.Plan.Interleaved) && l.runner.Plan.Builds == 0:
		return nil // all turns of an interleaved block use this build
	case l.program.ReadOnly: // no trial changes the build, so it needs no reset
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

// copies reports whether a layout is loaded once and every trial gets its own copy.
func (l *life) copies() bool {
	return l.runner.Plan.Preload > 0 && l.runner.Plan.Builds == 0 && l.db.Keep != nil
}

// copied loads the first build of a layout and keeps it as the source of copies. For a copy it takes over the first
// build's operation counts.
func (l *life) copied(ctx context.Context) error {
	r, name := l.runner, l.layout.Name
	if !l.db.Copied {
		for _, step := range []func(context.Context) error{l.preload, l.db.Keep} {
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

// loadedAnew warns that every trial reloads its database. It applies to servers that Filewise may not stop.
var loadedAnew = filewise.Warning{
	Code:    "loaded-anew",
	Message: "This server cannot be brought back to a loaded state, so every trial rebuilds and reloads its database.",
	Remedy:  "Count on the time of loading for each trial, or load less (--preload).",
}

// preload loads a build and records the operations that loading took. Its connections are closed afterwards.
func (l *life) preload(ctx context.Context) error {
	err := l.fill(ctx, l.runner.Plan.Preload)
	l.build.loaded = l.ledgers[0]
	return err
}

// extend adds the layout's later files and checks that they are there.
func (l *life) extend(ctx context.Context) error {
	if l.db.Extend == nil {
		return fmt.Errorf("files of %s cannot be added later on this engine: %w", l.layout.Name, filewise.ErrUnsupported)
	}
	if err := l.db.Extend(ctx); err != nil {
		return err
	}
	_, err := l.db.Observe(ctx)
	return err
}

// keep takes the snapshot that a loaded build is reset to, and names the build. If the plan demands copies and the
// engine can make them, the layout's next builds start as copies of this one.
func (l *life) keep(ctx context.Context) error {
	if err := l.db.Reset.Snapshot(ctx); err != nil {
		return err
	}
	if l.name(); !l.runner.Plan.CopiedBuilds || l.db.Keep == nil || l.db.Copied {
		return nil
	}
	r := l.runner
	r.locks.builds.Lock()
	r.copied[l.layout.Name] = l.build.name
	r.locks.builds.Unlock()
	return l.db.Keep(ctx)
}

// name gives the build its own name and keeps the build for later trials.
func (l *life) name() {
	r := l.runner
	r.locks.builds.Lock()
	defer r.locks.builds.Unlock()
	r.serial++
	if l.build.name = l.layout.Name + buildSeparator + strconv.Itoa(r.serial); l.db.Copied {
		l.build.name = verdict.CopyOf(r.copied[l.layout.Name], r.serial)
	}
	r.builds[l.buildKey()] = l.build
}

// builtAs returns the loaded build of a key, or nil if there is none.
func (r *Runner) builtAs(key string) *build {
	r.locks.builds.Lock()
	defer r.locks.builds.Unlock()
	return r.builds[key]
}

// handedOver is the prefix of the keys of builds that pilots leave to the first interleaved block.
const handedOver = "of the pilot: "

// handsOver reports whether the first interleaved block can continue on a pilot's build. It can if the build is for one
// trial only and the plan has no fixed work, which would have to start at its first operation.
func (l *life) handsOver() bool {
	return l.build != nil && l.build.name == "" && l.runner.Plan.Work == 0
}

// handOver leaves the pilot's build to the layout's trial in the first interleaved block, if handsOver allows it.
func (l *life) handOver() {
	if !l.handsOver() {
		return
	}
	l.build.done = l.ledgers
	l.runner.builds[handedOver+l.layout.Name] = l.build
}

// takeOver continues on the build that a pilot has left, and reports whether there is one.
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

// fill commits rows of that many payload bytes, split evenly over the connections, as fast as the server does, whatever
// the rate of the measured work. It does nothing if the workload only reads.
func (l *life) fill(ctx context.Context, bytes int64) error {
	if l.program.ReadOnly { // all data are loaded already
		return nil
	}
	return l.unmeasured(ctx, 0, "while it was loaded or worked on, unmeasured", func(load *drive.Load, p filewise.Phase) {
		load.Ops, load.Rate, load.Pause = opsOf(bytes/p.OpBytes, len(load.Sessions)), 0, nil
	})
}

// after shifts the numbers of a connection's operations, so that they follow those that its database already holds.
type after struct {
	filewise.Session
	done int64
}

// Do executes n operations. Number 0 is the first one that the database does not hold yet.
func (s after) Do(ctx context.Context, first, n int64) (int64, error) {
	return s.Session.Do(ctx, s.done+first, n)
}
