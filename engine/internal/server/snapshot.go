package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"filewise/internal/filesystem"
)

// Snapshot is a copy of the directories of a stopped server.
type Snapshot struct {
	roots []string // the server's directories
	copy  func(root string) string
	files map[string]stamp // by path: each file's stamp when the copy was made
	dirs  map[string]bool
}

// stamp shows whether a file was written since it was taken: every write changes ctime.
type stamp struct {
	size, inode uint64
	changed     time.Time
}

// Take copies the trees of roots. copyOf returns the directory for the copy of a root, on the same volume. An older
// copy there is replaced.
func Take(ctx context.Context, roots []string, copyOf func(root string) string) (*Snapshot, error) {
	s := &Snapshot{roots: roots, copy: copyOf, files: map[string]stamp{}, dirs: map[string]bool{}}
	for _, root := range roots {
		if err := os.RemoveAll(copyOf(root)); err != nil {
			return nil, err
		}
		err := walk(ctx, root, func(rel string, e fs.DirEntry) error {
			from, to := filepath.Join(root, rel), filepath.Join(copyOf(root), rel)
			if e.IsDir() {
				s.dirs[from] = true
				return os.Mkdir(to, 0o700)
			}
			in, err := filesystem.OpenIn(root, from)
			if err != nil {
				return err
			}
			defer in.Close()
			if err := in.Sync(); err != nil {
				return err
			}
			if err := copyTo(ctx, in, copyOf(root), to); err != nil {
				return err
			}
			if err := filesystem.Evict(in); err != nil {
				return err
			}
			st, err := stampOf(from)
			s.files[from] = st
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("snapshot of %s: %w", root, err)
		}
	}
	return s, nil
}

// Restore returns the trees of the stopped server to the snapshot. It copies files that were written since, removes new
// ones, and makes missing ones again. It returns the bytes of the restored files.
func (s *Snapshot) Restore(ctx context.Context) (int64, error) {
	var bytes int64
	for _, root := range s.roots {
		if err := s.removeNew(ctx, root); err != nil {
			return bytes, fmt.Errorf("restoring %s: %w", root, err)
		}
		err := walk(ctx, s.copy(root), func(rel string, e fs.DirEntry) error {
			from, to := filepath.Join(s.copy(root), rel), filepath.Join(root, rel)
			if e.IsDir() {
				return filesystem.In(root, to, mkdir)
			}
			now, err := stampOf(to)
			if err == nil && now == s.files[to] {
				return filesystem.EvictIn(root, to) // even if it was not read: every file starts as cold as the copied ones
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			in, err := filesystem.OpenIn(s.copy(root), from)
			if err != nil {
				return err
			}
			defer in.Close()
			if err := copyTo(ctx, in, root, to); err != nil {
				return err
			}
			now, err = stampOf(to)
			s.files[to] = now
			bytes += int64(now.size)
			return err
		})
		if err == nil {
			err = SyncTree(root)
		}
		if err != nil {
			return bytes, fmt.Errorf("restoring %s: %w", root, err)
		}
	}
	return bytes, nil
}

// removeNew removes what was created after the snapshot.
func (s *Snapshot) removeNew(ctx context.Context, root string) error {
	return walk(ctx, root, func(rel string, e fs.DirEntry) error {
		path := filepath.Join(root, rel)
		if _, known := s.files[path]; known && !e.IsDir() || s.dirs[path] && e.IsDir() {
			return nil
		}
		if err := filesystem.RemoveIn(root, path); err != nil {
			return err
		}
		if e.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
}

// walk calls visit for directories and regular files. It skips sockets and the like, which a stopped server has left.
func walk(ctx context.Context, root string, visit func(rel string, e fs.DirEntry) error) error {
	return filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if !e.IsDir() && !e.Type().IsRegular() {
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		return visit(rel, e)
	})
}

func mkdir(root *os.Root, rel string) error {
	if err := root.Mkdir(rel, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
