package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"filewise"
	"filewise/engine/internal/script"
	"filewise/internal/filesystem"
)

// parallel is the number of files that are created, settled or read at a time. It is enough for a storage's own parallelism, and
// no burden for the machine.
const parallel = 16

// file is one built shard. Its descriptor is used to preallocate and to sync. It stays open as long as SQLite has the
// file open, because closing any descriptor of a file drops the process's POSIX locks on it (howtocorrupt.html, 2.2).
type file struct {
	shard
	mu     sync.Mutex // held while keeper is used
	keeper *conn      // keeps the WAL when the last worker closes its connection
	fd     *os.File
}

// Build creates the layout's files with the program's tables. If it fails, it removes what it has created.
func (s *server) Build(ctx context.Context, l filewise.Layout, p filewise.Program) (*filewise.Database, error) {
	number := s.builds.take(slug(l.Name))
	free := func() { s.builds.release(slug(l.Name), number) }
	sh, err := newShape(s.target, l, p, number)
	if err != nil {
		free()
		return nil, err
	}
	d := &database{shape: sh, free: free}
	if sh.first != nil {
		d.shape, d.later = sh.first, sh
	}
	if err := d.createFrom(ctx, 0); err != nil {
		return nil, errors.Join(fmt.Errorf("building %s: %w", l.Name, err), d.Drop(context.WithoutCancel(ctx)))
	}
	if p.Custom != nil { // its set-up can have filled the files already
		d.worked.Store(true)
	}
	db := &filewise.Database{
		Build: d, Probes: d.probes(), Chunk: int64(p.First().CommitEvery),
		Restart: d.Restart, Evict: d.Evict, Bulk: d,
	}
	if p.BacksUp() {
		d.backups = &backuper{d: d, made: map[string]bool{}}
		db.Backup = d.backups
	}
	if d.later != nil {
		db.Extend = d.Extend
	}
	return db, nil
}

// createFrom creates the shape's files, beginning with file from, several in parallel.
func (d *database) createFrom(ctx context.Context, from int) error {
	files := make([]*file, len(d.shards)-from)
	eg, ectx := errgroup.WithContext(ctx)
	eg.SetLimit(parallel)
	for i := range files {
		eg.Go(func() error {
			if err := ectx.Err(); err != nil {
				return err
			}
			f, err := d.shape.create(ectx, d.shards[from+i])
			files[i] = f
			return err
		})
	}
	err := eg.Wait()
	for _, f := range files {
		if f != nil { // at least partly created: Drop removes it
			d.files = append(d.files, f)
		}
	}
	if why := ctx.Err(); err != nil && why != nil {
		return why
	}
	return err
}

// create creates one file. If it fails after the file exists, it also returns the file, which must be removed.
func (s *shape) create(ctx context.Context, sh shard) (*file, error) {
	fd, err := createNew(sh.path)
	if errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("creating %s in volume %s: %w", filepath.Base(sh.path), sh.volume.Name, err)
	}
	f := &file{shard: sh, fd: fd}
	if f.keeper, err = openBy(keepers, sh.path); err != nil {
		return f, err
	}
	if err := s.fill(ctx, f); err != nil {
		return f, err
	}
	return f, nil
}

// createNew creates an empty file. It fails if the file exists.
func createNew(path string) (*os.File, error) {
	fd, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, filewise.Errorf(filewise.CodePreflight, "choose another volume, or remove the file if it is not needed",
			"%s exists already and is left alone: %w", path, err)
	}
	return fd, err
}

// removeDatabase removes a closed database and the files that SQLite keeps next to it.
func removeDatabase(path string) error {
	var errs []error
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if err := filesystem.Insist(func() error { return os.Remove(path + suffix) }); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// fill creates the tables and extends the file to its full size.
func (s *shape) fill(ctx context.Context, f *file) error {
	steps, err := s.buildSteps(slices.IndexFunc(s.shards, func(sh shard) bool { return sh.path == f.path }))
	if err != nil {
		return err
	}
	// Preallocating comes after the tables: SQLite does not take a file of zeros
	// for a database. From here the chunk size keeps checkpoints from cutting it.
	err = steps.Run(ctx, func(ctx context.Context, x script.Step) error {
		err := f.keeper.do(ctx, x)
		if err != nil && s.program.Custom != nil && x.Section != "" {
			err = fmt.Errorf("%s: %w", x.Section, mistaken(err))
		}
		return err
	})
	if err != nil {
		return err
	}
	if s.layout.Data.Allocation != filewise.Growing {
		if err := preallocate(f.fd, f.bytes); err != nil {
			return fmt.Errorf("preallocating %d bytes for %s: %w", f.bytes, f.path, err)
		}
	}
	if err := s.presizeLog(f); err != nil {
		return err
	}
	if err := s.ready(f.keeper, f.shard); err != nil {
		return err
	}
	return f.keeper.exec(ctx, shrink)
}

// presizeLog fills the emptied WAL with zeros, so that its growth up to the first checkpoint does not disturb the
// trial. The log of the published experiment was pre-sized for the same reason. SQLite treats a WAL whose header is
// zero as empty (fileformat2.html#walformat). A descriptor of the WAL holds none of its locks.
func (s *shape) presizeLog(f *file) error {
	wal, err := os.OpenFile(f.path+"-wal", os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("pre-sizing the log of %s: %w", f.path, err)
	}
	if err := errors.Join(writeZeros(wal, s.logBytes()), wal.Sync(), wal.Close()); err != nil {
		return fmt.Errorf("pre-sizing the log %s-wal: %w", f.path, err)
	}
	return nil
}

// remove closes a file and removes it with its WAL and WAL index. It must be called once.
func (f *file) remove(s *shape) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var errs []error
	if f.keeper != nil {
		_ = f.keeper.section(context.Background(), s, "close") // only saves time
		errs = append(errs, f.keeper.Close())
		f.keeper = nil
	}
	return errors.Join(append(errs, f.fd.Close(), removeDatabase(f.path))...)
}

// preallocate extends a file to its full size and allocates its blocks.
func preallocate(f *os.File, size int64) error {
	err := filesystem.Preallocate(f, size)
	if errors.Is(err, errors.ErrUnsupported) {
		return writeZeros(f, size)
	}
	return err
}

// writeZeros extends a file to size bytes by writing them, if the file system
// cannot preallocate.
func writeZeros(f *os.File, size int64) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	zeros := make([]byte, 1<<20)
	for at := info.Size(); at < size; {
		n, err := f.WriteAt(zeros[:min(int64(len(zeros)), size-at)], at)
		if err != nil {
			return err
		}
		at += int64(n)
	}
	return nil
}

// allocated returns how many bytes the storage has allocated for a file, or nil if the system does not report that.
func allocated(path string, info fs.FileInfo) *int64 {
	n, ok := filesystem.Allocated(path, info)
	if !ok {
		return nil
	}
	return &n
}
