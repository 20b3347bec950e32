//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"filewise"
	"filewise/drive"
)

// resetFiles is the number of data files of the build that is reset.
const resetFiles = 4

// resetTimes are what the rounds took, in seconds.
type resetTimes struct {
	stop, copy, start []float64 // of the reset
	cp, cpSync        []float64 // cp alone; with the sync of what it wrote
	files             int
	bytes             int64
}

// resetRows measures resets of a loaded build against a cp of the files that
// were written since its snapshot.
func (b *managedBench) resetRows(ctx context.Context) (rows []row, err error) {
	db, err := b.build(ctx, resetFiles)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Dropper.Drop(ctx)) }()
	loaded, err := b.insert(ctx, db, nil, b.part())
	if err != nil {
		return nil, err
	}
	r := resetter{managedBench: b, db: db, since: time.Now()}
	if err := db.Reset.Snapshot(ctx); err != nil {
		return nil, err
	}
	if err := r.started(); err != nil {
		return nil, err
	}
	for round := range b.rounds {
		done, err := b.insert(ctx, db, loaded, b.part())
		if err != nil {
			return nil, err
		}
		if err := db.Settler.Settle(ctx); err != nil { // as a trial ends: also the data files are written
			return nil, err
		}
		if err = r.once(ctx, round%2 == 0); err != nil {
			return nil, err
		}
		if err := b.inserts.Check(ctx, db.Querier, 0, []filewise.Ledger{loaded}); err != nil {
			return nil, fmt.Errorf("after a reset of %d rows: %w", done.Total(), err)
		}
	}
	t := r.resetTimes
	return []row{
		atMost(fmt.Sprintf("reset, copying %d files of %d MiB, against cp and sync", t.files, t.bytes>>20), "%.2f times",
			ratios(t.copy, t.cpSync), maxResetRatio),
		told("  its copy · cp and sync", "%.2f s", t.copy, t.cpSync),
		told("  of these, cp until it returns", "%.2f s", t.cp),
		told("  stopping · starting the server", "%.2f s", t.stop, t.start),
	}, nil
}

// resetter resets a build again and again.
type resetter struct {
	*managedBench
	resetTimes
	db    *filewise.Database
	since time.Time // files that were written after it differ from the snapshot's
}

// insert commits payload bytes beyond those of the ledger, and returns it with
// them.
func (b *managedBench) insert(ctx context.Context, db *filewise.Database, ledger filewise.Ledger, bytes int64) (_ filewise.Ledger,
	err error) {
	p := b.inserts.Program()
	load := drive.Load{Multiple: int64(p.First().CommitEvery)}
	for w := range p.Connections() {
		s, err := db.Connector.Connect(ctx, 0, w)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, s.Close()) }()
		var done int64
		if ledger != nil {
			done = ledger[w]
		}
		load.Sessions = append(load.Sessions, beyond{s, done})
		load.Ops = append(load.Ops, bytes/p.First().OpBytes/int64(p.Connections()))
	}
	result, err := drive.Run(ctx, load)
	return ledger.Plus(result.Ledger), err
}

// beyond is a session of which some operations are done already.
type beyond struct {
	filewise.Session
	done int64
}

func (s beyond) Do(ctx context.Context, first, n int64) (int64, error) {
	return s.Session.Do(ctx, s.done+first, n)
}

// once resets the build, and copies the same files by cp before or after.
// Both start with the copies of the snapshot out of the page cache and nothing
// left to write, and both count until what they wrote is on the storage.
func (r *resetter) once(ctx context.Context, cpFirst bool) error {
	stop, err := seconds(func() error { return r.db.Lifecycle.Crash(ctx) }) // as a reset begins
	if err != nil {
		return err
	}
	written, err := r.written()
	if err != nil {
		return err
	}
	r.stop, r.files, r.resetTimes.bytes = append(r.stop, stop), len(written), 0
	for _, f := range written {
		r.resetTimes.bytes += f.bytes
	}
	steps := []func() error{func() error { return r.reset(ctx) }, func() error { return r.copied(ctx, written) }}
	if cpFirst {
		slices.Reverse(steps)
	}
	for _, step := range steps {
		if err := errors.Join(settleStorage(written), step()); err != nil {
			return err
		}
	}
	return nil
}

func (r *resetter) reset(ctx context.Context) error {
	r.since = time.Now()
	if err := r.db.Reset.Reset(ctx); err != nil {
		return err
	}
	for _, s := range r.db.Reset.(filewise.Timed).Took() {
		switch s.Name {
		case "copy":
			r.copy = append(r.copy, s.Took.Seconds())
		case "start":
			r.start = append(r.start, s.Took.Seconds())
		}
	}
	return r.started()
}

// started moves since to when the server was started again by what began then.
func (r *resetter) started() error {
	timed, ok := r.db.Reset.(filewise.Timed)
	if !ok {
		return errors.New("the engine does not say where the time of a reset goes")
	}
	for _, s := range timed.Took() {
		if s.Name != "start" {
			r.since = r.since.Add(s.Took)
		}
	}
	return nil
}

// writtenFile is a file of the build with its copy in the snapshot.
type writtenFile struct {
	copy  string
	bytes int64
}

// written finds the files of the build that were changed, redo log included, and have
// a copy. The snapshot lies beside the build.
func (r *resetter) written() (all []writtenFile, err error) {
	snapshots, err := filepath.Glob(filepath.Join(r.scratch, "*.snapshot"))
	if err != nil {
		return nil, err
	}
	if len(snapshots) != 1 {
		return nil, fmt.Errorf("there are %d snapshots, want 1", len(snapshots))
	}
	live := strings.TrimSuffix(snapshots[0], ".snapshot")
	err = filepath.WalkDir(snapshots[0], func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(snapshots[0], path)
		if err != nil {
			return err
		}
		info, err := os.Stat(filepath.Join(live, rel))
		if errors.Is(err, fs.ErrNotExist) {
			info, err = e.Info()
		}
		if err != nil {
			return err
		}
		if s, ok := info.Sys().(*syscall.Stat_t); ok && time.Unix(s.Ctim.Unix()).Before(r.since) {
			return nil
		}
		copied, err := e.Info()
		all = append(all, writtenFile{path, copied.Size()})
		return err
	})
	if err == nil && len(all) == 0 {
		err = errors.New("no file was written since the snapshot")
	}
	return all, err
}

// settleStorage writes everything that is dirty, and drops the sources from the
// page cache.
func settleStorage(files []writtenFile) error {
	unix.Sync()
	for _, f := range files {
		if err := withFile(f.copy, func(file *os.File) error { return unix.Fadvise(int(file.Fd()), 0, 0, unix.FADV_DONTNEED) }); err != nil {
			return err
		}
	}
	return nil
}

func withFile(path string, do func(*os.File) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(do(f), f.Close())
}

// copied copies the files with the system's cp, over those of the round before, as a
// reset writes over the build's.
func (r *resetter) copied(ctx context.Context, files []writtenFile) error {
	to := filepath.Join(r.scratch, "cp")
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	// --parents: files of one name in several directories stay apart.
	args := []string{"--reflink=never", "--parents", "--target-directory=" + to, "--"}
	for _, f := range files {
		args = append(args, f.copy)
	}
	cp, err := seconds(func() error { _, _, err := byCommand(exec.CommandContext(ctx, "cp", args...)); return err })
	if err != nil {
		return err
	}
	sync, err := seconds(func() error {
		for _, f := range files {
			if err := withFile(filepath.Join(to, f.copy), (*os.File).Sync); err != nil {
				return err
			}
		}
		return nil
	})
	r.cp, r.cpSync = append(r.cp, cp), append(r.cpSync, cp+sync)
	return err
}
