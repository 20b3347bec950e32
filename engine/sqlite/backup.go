package sqlite

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"golang.org/x/sync/errgroup"

	"filewise"
	"filewise/internal/filesystem"
	"filewise/internal/sqlitedriver"
)

// backuper copies the files with SQLite's online backup API, in one thread per file. A backup has as many files as the
// database.
type backuper struct {
	d    *database
	mu   sync.Mutex
	made map[string]bool // files that it created and has not removed
}

// backupPages is the number of pages in one step. The context is checked between steps.
const backupPages = 256

// backupOptions lists the options of SQLite's backups.
var backupOptions = []filewise.BackupOption{{
	Name: "pages", Words: "number of 4 KiB pages to copy per step, 1 to 1000000 (usually 256)",
	Check: func(v string) error { _, err := pagesOf(v); return err },
}}

func pagesOf(v string) (int, error) {
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 || n > 1_000_000 {
		return 0, errors.New("it is no number from 1 to 1000000")
	}
	return n, nil
}

func (b *backuper) pages() int {
	if v, ok := b.d.layout.BackupOptions.Get("pages"); ok {
		if n, err := pagesOf(v); err == nil { // checked by newShape
			return n
		}
	}
	return backupPages
}

// target returns the path of file i's backup or restored copy, and its volume.
func (b *backuper) target(i int, suffix string) (filewise.Volume, string) {
	l := b.d.layout
	v := l.BackupVolumeOf(i, b.d.target.Volumes)
	return v, filepath.Join(v.Dir, filepath.Base(b.d.shards[i].path)+suffix)
}

const (
	backupSuffix   = ".backup"
	restoredSuffix = ".restored"
)

// Backup writes and syncs the backup files.
func (b *backuper) Backup(ctx context.Context) ([]filewise.File, error) {
	if b.d.layout.Discard {
		return nil, b.all(ctx, func(ctx context.Context, i int) error { return b.read(ctx, b.d.shards[i].path) })
	}
	files := make([]filewise.File, len(b.d.shards))
	err := b.all(ctx, func(ctx context.Context, i int) error {
		v, path := b.target(i, backupSuffix)
		if err := b.copyDatabase(ctx, b.d.shards[i].path, path); err != nil {
			return err
		}
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		files[i] = filewise.File{Role: filewise.RoleBackup, Volume: v.Name, Path: path, Bytes: info.Size()}
		return nil
	})
	return files, err
}

// Restore copies the backups into new database files.
func (b *backuper) Restore(ctx context.Context) error {
	return b.all(ctx, func(ctx context.Context, i int) error {
		_, from := b.target(i, backupSuffix)
		return b.copyDatabase(ctx, from, b.d.shards[i].path+restoredSuffix)
	})
}

// all calls do for every file, in parallel.
func (b *backuper) all(ctx context.Context, do func(context.Context, int) error) error {
	eg, ctx := errgroup.WithContext(ctx)
	for i := range b.d.shards {
		eg.Go(func() error { return do(ctx, i) })
	}
	return eg.Wait()
}

// hold begins a transaction that reads the database in its present state. Otherwise each step would have its own
// transaction, and the backup would restart whenever another connection writes.
func (c *conn) hold(ctx context.Context) error {
	for _, statement := range []string{"BEGIN", "SELECT count(*) FROM sqlite_schema"} {
		if _, err := c.query(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// read reads a database file in the steps of a backup and discards it. A transaction keeps the file's state meanwhile.
func (b *backuper) read(ctx context.Context, path string) (err error) {
	source, err := open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	if err := source.hold(ctx); err != nil {
		return err
	}
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	buf := make([]byte, b.pages()*pageBytes)
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if _, err := io.ReadFull(in, buf); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading %s: %w", path, err)
		}
	}
}

// create creates an empty file, and records that the backuper made it. It fails if the file exists.
func (b *backuper) create(path string) error {
	created, err := createNew(path)
	if err != nil {
		return err
	}
	b.mu.Lock()
	b.made[path] = true
	b.mu.Unlock()
	return created.Close()
}

// copyDatabase copies a database file to a new file and syncs that. It fails if the new file exists.
func (b *backuper) copyDatabase(ctx context.Context, from, to string) (err error) {
	if err := b.create(to); err != nil {
		return err
	}
	source, err := open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	defer func() { err = errors.Join(err, filesystem.SyncFile(to), syncDir(filepath.Dir(to))) }()
	if err := source.hold(ctx); err != nil {
		return err
	}
	backup, err := sqlitedriver.NewBackup(source.Conn, uriOf(to))
	if err != nil {
		return fmt.Errorf("backing %s up: %w", from, err)
	}
	pages := b.pages()
	for done := false; !done && err == nil; {
		if err = ctx.Err(); err == nil {
			done, err = backup.Step(pages)
		}
	}
	return errors.Join(explain(err), backup.Finish())
}

// Verify compares the restored files with the originals page by page. If a load has written during the backup, pages
// differ. Then SQLite's integrity check and the workload's sums decide.
func (b *backuper) Verify(ctx context.Context) error {
	return b.all(ctx, func(ctx context.Context, i int) error {
		sh, f := b.d.shards[i], b.d.files[i]
		f.mu.Lock()
		defer f.mu.Unlock()
		if err := b.d.checkpoint(ctx, f); err != nil { // the file alone is the database then
			return err
		}
		same, err := samePages(ctx, sh.path, sh.path+restoredSuffix)
		switch {
		case same || err != nil:
			return err
		case !b.d.program.HasConcurrentLoad():
			return fmt.Errorf("%w: pages of %s differ from %s", filewise.ErrCheck, sh.path+restoredSuffix, sh.path)
		}
		return b.sameSums(ctx, sh, f)
	})
}

// samePages reports whether two database files have the same pages. It ignores what SQLite increments in the header of
// a copy: the counters of changes and of the schema, and the version that made them. A file can have preallocated space
// beyond its pages.
func samePages(ctx context.Context, one, other string) (bool, error) {
	a, err := os.Open(one)
	if err != nil {
		return false, err
	}
	defer a.Close()
	b, err := os.Open(other)
	if err != nil {
		return false, err
	}
	defer b.Close()
	x, y := make([]byte, 256*pageBytes), make([]byte, 256*pageBytes)
	if _, err := io.ReadFull(a, x[:pageBytes]); err != nil {
		return false, fmt.Errorf("reading %s: %w", one, err)
	}
	left := int64(binary.BigEndian.Uint32(x[28:])) * pageBytes // fileformat2.html#the_database_header
	if _, err := a.Seek(0, io.SeekStart); err != nil {
		return false, err
	}
	for first := true; left > 0; first = false {
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		n := min(left, int64(len(x)))
		if _, err := io.ReadFull(a, x[:n]); err != nil {
			return false, fmt.Errorf("reading %s: %w", one, err)
		}
		if _, err := io.ReadFull(b, y[:n]); err != nil {
			return false, fmt.Errorf("reading %s: %w", other, err)
		}
		if first {
			for _, at := range []int{24, 40, 92} {
				copy(y[at:at+4], x[at:at+4])
			}
		}
		if !bytes.Equal(x[:n], y[:n]) {
			return false, nil
		}
		left -= n
	}
	return true, nil
}

// sameSums checks the restored file with SQLite's integrity check, and compares the workload's sums.
func (b *backuper) sameSums(ctx context.Context, sh shard, f *file) (err error) {
	restored, err := open(sh.path + restoredSuffix)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, restored.Close()) }()
	if ok, err := restored.value(ctx, "PRAGMA integrity_check"); err != nil || ok != "ok" {
		return errors.Join(fmt.Errorf("%w: %s: %v", filewise.ErrCheck, restored.path, ok), err)
	}
	for _, table := range sh.tables {
		statement, err := b.d.sql.Statement("check", vars(b.d.program, table))
		if err != nil {
			return err
		}
		want, err := f.keeper.query(ctx, statement)
		if err != nil {
			return err
		}
		got, err := restored.query(ctx, statement)
		if err != nil {
			return err
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			return fmt.Errorf("%w: table %s of %s has %v, expected %v", filewise.ErrCheck, table, restored.path, got, want)
		}
	}
	return nil
}

// Discard removes only the backups and restored files that the backuper made.
func (b *backuper) Discard(context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var errs []error
	for path := range b.made {
		failed := removeDatabase(path)
		if failed == nil {
			delete(b.made, path)
		}
		errs = append(errs, failed)
	}
	return errors.Join(errs...)
}
