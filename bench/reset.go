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

// resetTimes is one round.
type resetTimes struct {
	stop, copy, start time.Duration // of the reset
	cp, cpSync        time.Duration // cp alone; with the sync of what it wrote
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
	loaded, err := b.insert(ctx, db, nil, b.load)
	if err != nil {
		return nil, err
	}
	since := time.Now()
	if err := db.Reset.Snapshot(ctx); err != nil {
		return nil, err
	}
	if since, err = startedAt(db, since); err != nil {
		return nil, err
	}
	var all []resetTimes
	for round := range b.rounds {
		done, err := b.insert(ctx, db, loaded, b.work)
		if err != nil {
			return nil, err
		}
		if err := db.Settler.Settle(ctx); err != nil { // as a trial ends: also the data files are written
			return nil, err
		}
		var t resetTimes
		if t, since, err = b.resetOnce(ctx, db, since, round%2 == 0); err != nil {
			return nil, err
		}
		if err := b.inserts.Check(ctx, db.Querier, loaded); err != nil {
			return nil, fmt.Errorf("after a reset of %d rows: %w", done.Total(), err)
		}
		all = append(all, t)
	}
	return tableOf(all), nil
}

// insert commits payload bytes beyond those of the ledger, and returns it with
// them.
func (b *managedBench) insert(ctx context.Context, db *filewise.Database, ledger filewise.Ledger, bytes int64) (_ filewise.Ledger, err error) {
	p := b.inserts.Program()
	load := drive.Load{Multiple: int64(p.CommitEvery)}
	for w := range p.Connections {
		s, err := db.Connector.Connect(ctx, w)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, s.Close()) }()
		var done int64
		if ledger != nil {
			done = ledger[w]
		}
		load.Sessions = append(load.Sessions, beyond{s, done})
		load.Ops = append(load.Ops, bytes/p.OpBytes/int64(p.Connections))
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

// resetOnce resets the build, and copies the same files by cp before or after.
// Both start with the copies of the snapshot out of the page cache and nothing
// left to write, and both count until what they wrote is on the storage.
func (b *managedBench) resetOnce(ctx context.Context, db *filewise.Database, since time.Time, cpFirst bool) (t resetTimes, next time.Time, err error) {
	start := time.Now()
	if err := db.Lifecycle.Crash(ctx); err != nil { // as a reset begins
		return t, next, err
	}
	t.stop = time.Since(start)
	written, err := b.writtenSince(since)
	if err != nil {
		return t, next, err
	}
	for _, f := range written {
		t.files, t.bytes = t.files+1, t.bytes+f.bytes
	}
	cp := func() error { return b.cp(ctx, &t, written) }
	reset := func() error {
		if err := settleStorage(written); err != nil {
			return err
		}
		start := time.Now()
		if err := db.Reset.Reset(ctx); err != nil {
			return err
		}
		next, err = startedAt(db, start)
		for _, s := range db.Reset.(filewise.Timed).Took() {
			switch s.Name {
			case "copy":
				t.copy = s.Took
			case "start":
				t.start = s.Took
			}
		}
		return err
	}
	steps := []func() error{reset, cp}
	if cpFirst {
		slices.Reverse(steps)
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return t, next, err
		}
	}
	return t, next, nil
}

// startedAt is when the server was started again by what began then: the files
// that differ from the snapshot are those written from there on.
func startedAt(db *filewise.Database, began time.Time) (time.Time, error) {
	timed, ok := db.Reset.(filewise.Timed)
	if !ok {
		return began, errors.New("the engine does not say where the time of a reset goes")
	}
	for _, s := range timed.Took() {
		if s.Name != "start" {
			began = began.Add(s.Took)
		}
	}
	return began, nil
}

// writtenFile is a file of the build with its copy in the snapshot.
type writtenFile struct {
	copy  string
	bytes int64
}

// writtenSince finds the files of the build that were changed, redo log
// included, and have a copy. The snapshot lies beside the build.
func (b *managedBench) writtenSince(since time.Time) (all []writtenFile, err error) {
	snapshots, err := filepath.Glob(filepath.Join(b.dir, "volume", "*.snapshot"))
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
		if s, ok := info.Sys().(*syscall.Stat_t); ok && time.Unix(s.Ctim.Unix()).Before(since) {
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

// cp copies the files with the system's cp, over those of the round before, as a
// reset writes over the build's.
func (b *managedBench) cp(ctx context.Context, t *resetTimes, files []writtenFile) error {
	to := filepath.Join(b.dir, "cp")
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	if err := settleStorage(files); err != nil {
		return err
	}
	// --parents: files of one name in several directories stay apart.
	args := []string{"--reflink=never", "--parents", "--target-directory=" + to, "--"}
	for _, f := range files {
		args = append(args, f.copy)
	}
	start := time.Now()
	if out, err := exec.CommandContext(ctx, "cp", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("cp: %w: %s", err, out)
	}
	t.cp = time.Since(start)
	for _, f := range files {
		if err := withFile(filepath.Join(to, f.copy), (*os.File).Sync); err != nil {
			return err
		}
	}
	t.cpSync = time.Since(start)
	return nil
}

// tableOf is the rounds as rows of the table.
func tableOf(all []resetTimes) []row {
	column := func(get func(resetTimes) time.Duration) (ds []time.Duration) {
		for _, t := range all {
			ds = append(ds, get(t))
		}
		return ds
	}
	var ratios []float64
	for _, t := range all {
		ratios = append(ratios, t.copy.Seconds()/t.cpSync.Seconds())
	}
	slices.Sort(ratios)
	ratio := ratios[(len(ratios)-1)/2]
	return []row{
		{fmt.Sprintf("reset, copying %d files of %d MiB, against cp and sync", all[0].files, all[0].bytes>>20),
			fmt.Sprintf("%.2f times (%.2f … %.2f)", ratio, ratios[0], ratios[len(ratios)-1]), fmt.Sprintf("≤ %.1f times", maxResetRatio), ratio <= maxResetRatio},
		{what: "  its copy · cp and sync", value: spread(column(func(t resetTimes) time.Duration { return t.copy })) + " · " + spread(column(func(t resetTimes) time.Duration { return t.cpSync }))},
		{what: "  of these, cp until it returns", value: spread(column(func(t resetTimes) time.Duration { return t.cp }))},
		{what: "  stopping · starting the server", value: spread(column(func(t resetTimes) time.Duration { return t.stop })) + " · " + spread(column(func(t resetTimes) time.Duration { return t.start }))},
	}
}
