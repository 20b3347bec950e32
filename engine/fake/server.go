package fake

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"time"

	"filewise"
)

// unit is the size of the fake's pages, in bytes.
const unit = 4096

// Statements lists the files and one step for each stage.
func (e *Engine) Statements(t filewise.Target, l filewise.Layout, p filewise.Program) (filewise.Statements, error) {
	if err := possible(t, l, p); err != nil {
		return filewise.Statements{}, err
	}
	out := filewise.Statements{Files: files(t, l), Space: map[string]int64{}}
	for _, f := range out.Files {
		out.Space[f.Volume] += f.Bytes
	}
	for _, stage := range []string{filewise.StageBuild, filewise.StageSettle, filewise.StageMeasure, filewise.StageCheck, filewise.StageDrop} {
		out.Steps = append(out.Steps, filewise.Step{Stage: stage, On: Name, SQL: "-- " + stage + " " + l.Name})
	}
	return out, nil
}

// known lists the workloads that the fake can execute.
var known = map[string]bool{"inserts": true}

var arms = []filewise.AddedLater{filewise.LaterUntouched, filewise.LaterNewData, filewise.LaterRebuilt}

func possible(t filewise.Target, l filewise.Layout, p filewise.Program) error {
	switch {
	case len(t.Volumes) == 0:
		return filewise.Errorf(filewise.CodeUsage, "give at least one volume", "no volume to place files on")
	case l.Data.Files < 1 || l.Data.Bytes < int64(l.Data.Files)*unit:
		return filewise.Errorf(filewise.CodeUsage, "choose fewer files or a larger size", "%d bytes on %d files", l.Data.Bytes, l.Data.Files)
	case l.Kind != filewise.KindShards && l.Kind != filewise.KindSystem: // shards have a log each, a system tablespace one in all
		return filewise.Errorf(filewise.CodeUsage, "use kind \"shards\" or \"system\"", "layout kind %q on %s: %w", l.Kind, Name,
			filewise.ErrUnsupported)
	case l.LogVolume != "" || l.Indexes != "" || l.IndexVolume != "":
		return filewise.Errorf(filewise.CodeUsage, "leave it out", "log or indexes of layout %q apart on %s: %w", l.Name, Name,
			filewise.ErrUnsupported)
	case l.AddedLater != "" && !slices.Contains(arms, l.AddedLater):
		return filewise.Errorf(filewise.CodeUsage, "use untouched, new-data or rebuilt", "files added later: %q on %s: %w", l.AddedLater, Name,
			filewise.ErrUnsupported)
	case !known[p.Workload]:
		return filewise.Errorf(filewise.CodeUsage, "known: inserts", "workload %q on %s: %w", p.Workload, Name, filewise.ErrUnsupported)
	case p.Connections() < 1 || p.Appends() && p.First().CommitEvery < 1:
		return filewise.Errorf(filewise.CodeUsage, "", "%d connections, a commit every %d rows", p.Connections(), p.First().CommitEvery)
	}
	return nil
}

// files returns the layout's files, which exist only in name; those that are added
// later among them.
func files(t filewise.Target, l filewise.Layout) []filewise.File {
	var out []filewise.File
	for i, size := range l.Data.Sizes(unit) {
		if i > 0 && l.AddedLater == filewise.LaterUntouched {
			break
		}
		v := l.Data.VolumeOf(i, l.DataVolumes(t.Volumes))
		if l.Data.Allocation == filewise.Growing {
			size = unit
		}
		out = append(out, filewise.File{
			Role: filewise.RoleData, Volume: v.Name, Bytes: size,
			Path: path.Join("/fake", v.Name, fmt.Sprintf("%s-%04d", l.Name, i+1)),
		})
	}
	return out
}

type server struct {
	e *Engine
	t filewise.Target
}

// Facts returns the planted truths' names.
func (*server) Facts(context.Context) ([]filewise.Fact, error) {
	return []filewise.Fact{{Name: "engine", Value: "fake"}, {Name: "time", Value: "virtual"}}, nil
}

// Offers describes what the fake does not offer, and why.
func (*server) Offers() map[filewise.Capability]error {
	offers := filewise.Offering(nil)
	for _, c := range []filewise.Capability{filewise.CanRestart, filewise.CanBulk, filewise.CanLogApart, filewise.CanIndexApart,
		filewise.CanBackup, filewise.CanTemp, filewise.CanWaits, filewise.CanFileIO} {
		offers[c] = fmt.Errorf("the fake has no %s: %w", c, filewise.ErrUnsupported)
	}
	return offers
}

// Close records the call.
func (s *server) Close() error { return s.e.call(context.Background(), "close", "") }

// Build makes a build whose throughput is fixed from here on.
func (s *server) Build(ctx context.Context, l filewise.Layout, p filewise.Program) (*filewise.Database, error) {
	if err := possible(s.t, l, p); err != nil {
		return nil, err
	}
	if err := s.e.call(ctx, filewise.StageBuild, l.Name); err != nil {
		return nil, err
	}
	s.e.mu.Lock()
	s.e.builds++
	build := s.e.builds
	s.e.mu.Unlock()
	if f := s.e.fault(filewise.StageBuild, l.Name, build); f != nil {
		return nil, f.err(filewise.StageBuild, l.Name)
	}
	s.e.mu.Lock()
	s.e.open++
	s.e.mu.Unlock()
	d := &database{e: s.e, t: s.t, l: l, p: p, build: build, committed: make([]rows, p.Connections())}
	d.own, d.throughput = s.e.truth(l, build)
	db := &filewise.Database{
		Build: d, Probes: []filewise.Probe{d}, Reset: &resetter{d: d}, Lifecycle: d, First: s.e.create(l.Name),
		Cycle: d.Cycle, Settled: d.settled, Unsettled: s.e.config.Unsettled,
	}
	if wait := s.e.config.LogWait; wait != nil {
		db.Probes = append(db.Probes, filewise.ProbeOf(filewise.ProbeWaits, func(context.Context) ([]filewise.Counter, error) {
			return []filewise.Counter{{Name: "log", Unit: "s", Class: filewise.WaitLog, Value: float64(d.done.Load()) * wait(p).Seconds()}}, nil
		}))
	}
	s.e.share(db, d)
	if l.AddedLater != "" {
		db.Extend = d.Extend
	}
	if !p.Appends() {
		backups := &backuper{d: d}
		db.Bulk, db.Backup, db.BackupTook = d, backups, backups.Took
	}
	if s.e.config.Copies && (p.Preload > 0 || p.Restored()) {
		db.Keep, db.Copied = d.keep, d.fromKept()
	}
	if s.e.config.NoReset {
		db.Reset, db.Lifecycle = nil, nil
	}
	return db, nil
}

// share lets Join find a build.
func (e *Engine) share(db *filewise.Database, d *database) {
	name := strconv.Itoa(d.build)
	db.Shared = func() string { return name }
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.shared == nil {
		e.shared = map[string]*database{}
	}
	e.shared[name] = d
}

// Join finds a build of the same engine.
func (s *server) Join(_ context.Context, _ filewise.Layout, _ filewise.Program, shared string) (filewise.Connector, func(), error) {
	s.e.mu.Lock()
	defer s.e.mu.Unlock()
	d := s.e.shared[shared]
	if d == nil {
		return nil, nil, fmt.Errorf("there is no build %q", shared)
	}
	return d, func() {}, nil
}

// Now returns the virtual time.
func (s *server) Now(context.Context) (time.Time, error) { return s.e.clock.Now(), nil }

// Extend adds the layout's further files, in name.
func (d *database) Extend(ctx context.Context) error {
	switch {
	case d.sessions.Load() > 0:
		return errors.New("connections are open while files are added")
	case d.extended.Load():
		return errors.New("the files were added already")
	}
	if err := d.stage(ctx, filewise.StageExtend); err != nil {
		return err
	}
	d.loaded = d.stored()
	d.extended.Store(true)
	return nil
}

// stored returns the number of bytes that are committed.
func (d *database) stored() int64 {
	var n int64
	for w := range d.committed {
		c := &d.committed[w]
		c.mu.Lock()
		for _, r := range c.ranges {
			n += r[1] - r[0]
		}
		c.mu.Unlock()
	}
	return n * d.p.First().OpBytes
}

// filled returns the files with the bytes that each holds. Data lie evenly over all files. If files were added later
// without a rebuild, the data that were loaded before stay in the first file.
func (d *database) filled(files []filewise.File) []filewise.File {
	files = slices.Clone(files)
	even, first := d.stored(), int64(0)
	if d.l.AddedLater == filewise.LaterNewData && d.extended.Load() {
		first = min(d.loaded, even)
		even -= first
	}
	for i := range files {
		used := even / int64(len(files))
		if i == 0 {
			used += first
		}
		files[i].Used = &used
	}
	return files
}
