package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"filewise"
	"filewise/internal/filesystem"
)

// database is one build, which consists of the files of a shape.
type database struct {
	*shape
	later  *shape // the shape after Extend; nil if nothing is added
	files  []*file
	worked atomic.Bool // a connection was opened, so files may have grown

	backups *backuper // nil if the workload makes none
	free    func()    // frees the build's number

	mu         sync.Mutex
	workers    []*worker
	attached   attachedLinks
	restarts   walRestarts
	data       dataWritten
	fileCounts map[string]*fileCounts // by path
	created    atomic.Int64           // number of tables that were created and dropped
	dropped    bool
}

// each calls do for every file, several in parallel, while it holds the file's keeper.
func (d *database) each(ctx context.Context, do func(context.Context, int, *file) error) error {
	eg, ctx := errgroup.WithContext(ctx)
	eg.SetLimit(parallel)
	for i, f := range d.files {
		eg.Go(func() error {
			f.mu.Lock()
			defer f.mu.Unlock()
			if err := ctx.Err(); err != nil {
				return err
			}
			if f.keeper == nil {
				return fmt.Errorf("%s was dropped", f.path)
			}
			return do(ctx, i, f)
		})
	}
	return eg.Wait()
}

// eachShrunk calls each, and then has the keepers free the pages that they have read. SQLite would keep 2 MiB of such
// pages per file. Settle's checkpoints do not read pages.
func (d *database) eachShrunk(ctx context.Context, do func(context.Context, int, *file) error) error {
	return d.each(ctx, func(ctx context.Context, i int, f *file) error {
		if err := do(ctx, i, f); err != nil {
			return err
		}
		return f.keeper.exec(ctx, shrink)
	})
}

const shrink = "PRAGMA shrink_memory"

// settlePatience limits how long Settle waits for a connection to end its transaction.
const settlePatience = 10 * time.Second

// Settle checkpoints every file, empties its WAL, and syncs the files and their directories. It does so with any
// durability.
func (d *database) Settle(ctx context.Context) error {
	if _, err := d.data.read(d.files); err != nil {
		return err
	}
	before := calledWrites()
	err := d.each(ctx, func(ctx context.Context, _ int, f *file) error {
		if err := d.checkpoint(ctx, f); err != nil {
			return err
		}
		if err := f.fd.Sync(); err != nil {
			return fmt.Errorf("syncing %s: %w", f.path, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	synced := map[string]bool{}
	for _, f := range d.files {
		dir := filepath.Dir(f.path)
		if synced[dir] {
			continue
		}
		synced[dir] = true
		if err := syncDir(dir); err != nil {
			return err
		}
	}
	if now := calledWrites(); before >= 0 && now >= before {
		return d.data.settled(d.files, now-before)
	}
	return nil
}

// calledWrites returns how many bytes this process has written by system calls, as Linux counts them, or -1 if not
// known.
func calledWrites() int64 {
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return -1
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "wchar: "); ok {
			if n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64); err == nil {
				return n
			}
		}
	}
	return -1
}

func (d *database) checkpoint(ctx context.Context, f *file) error {
	sql, err := shardsSQL.Statement("settle", d.connectionVars())
	if err != nil {
		return err
	}
	for start := time.Now(); ; {
		rows, err := f.keeper.query(ctx, sql)
		if err != nil && !isBusy(err) {
			return err
		}
		// busy, pages in the WAL, pages of it checkpointed (pragma.html#pragma_wal_checkpoint)
		if err == nil && len(rows) == 1 && rows[0][0] == int64(0) {
			return nil
		}
		if time.Since(start) > settlePatience {
			return fmt.Errorf("checkpointing %s: a connection is still in a transaction after %v", f.path, settlePatience)
		}
	}
}

func syncDir(path string) error {
	if err := filesystem.SyncDir(path); err != nil {
		return fmt.Errorf("syncing directory %s: %w", path, err)
	}
	return nil
}

// Query runs a section of the workload's SQL on every table of every file.
func (d *database) Query(ctx context.Context, section string) ([][]any, error) {
	if d.program.Custom != nil {
		return d.queryCustom(ctx, section)
	}
	if d.divided() && d.sql.Has(section) {
		return d.queryAll(ctx, section)
	}
	if !d.sql.Has(section) {
		return nil, fmt.Errorf("workload %s has no section %q on SQLite: %w", d.program.Workload, section, filewise.ErrUnsupported)
	}
	results := make([][][]any, len(d.files))
	err := d.eachShrunk(ctx, func(ctx context.Context, i int, f *file) error {
		for _, table := range f.tables {
			statements, err := d.sql.Statements(section, vars(d.program, table))
			if err != nil {
				return err
			}
			for _, st := range statements {
				rows, err := f.keeper.query(ctx, st)
				if err != nil {
					return err
				}
				results[i] = append(results[i], rows...)
			}
		}
		return nil
	})
	return slices.Concat(results...), err
}

// Drop closes what is still open. It removes the files that Build created, their WALs and WAL indexes, and the rest of
// a backup. Calling Drop again does nothing.
func (d *database) Drop(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dropped {
		return nil
	}
	d.dropped = true
	errs := filewise.Each(d.workers, (*worker).Close)
	errs = append(errs, d.attached.close())
	removed := make([]error, len(d.files))
	var eg errgroup.Group
	eg.SetLimit(parallel)
	for i, f := range d.files {
		if f != nil {
			eg.Go(func() error {
				removed[i] = f.remove(d.shape)
				return nil
			})
		}
	}
	_ = eg.Wait() // removed contains the errors
	errs = append(errs, removed...)
	if d.backups != nil {
		errs = append(errs, d.backups.Discard(ctx))
	}
	err := errors.Join(errs...)
	if err == nil {
		d.free()
	}
	return err
}
