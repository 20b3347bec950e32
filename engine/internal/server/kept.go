package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// Kept are builds of an opened target that were loaded: the next builds of the same layouts begin as copies of them. They
// are started no more, or have a snapshot, which is copied.
type Kept[B comparable] struct {
	Dirs func(B) []string
	Drop func(B) error

	builds sync.Map // sources by what they are loaded with
}

// source is a build that is copied; suffix is behind the names of the directories to copy.
type source[B comparable] struct {
	build  B
	suffix string
}

// Share has the next builds begin as copies of a build's snapshot.
func (k *Kept[B]) Share(key string, b B) { k.builds.Store(key, source[B]{b, snapshotSuffix}) }

// Forget has no build begin as a copy of a build any more, which is about to be dropped.
func (k *Kept[B]) Forget(b B) {
	k.builds.Range(func(key, s any) bool {
		if s.(source[B]).build == b {
			k.builds.Delete(key)
		}
		return true
	})
}

// Keep stops a loaded build's server, copies its directories to another's, which
// again makes, and starts the server.
func (k *Kept[B]) Keep(ctx context.Context, key string, b B, life *Life, again func() (B, error)) error {
	kept, made := *new(B), false
	err := life.Between(ctx, func() (err error) {
		if kept, err = again(); err != nil {
			return err
		}
		made = true
		if err = copyDirs(ctx, k.Dirs(b), k.Dirs(kept)); err == nil {
			err = evictDirs(k.Dirs(b))
		}
		return err
	})
	switch {
	case err == nil:
		k.builds.Store(key, source[B]{build: kept})
	case made:
		err = errors.Join(err, k.Drop(kept))
	}
	return err
}

// Copy fills the directories of a build from one that was kept. If false, there is none.
func (k *Kept[B]) Copy(ctx context.Context, key string, b B) (from B, kept bool, err error) {
	found, kept := k.builds.Load(key)
	if !kept {
		return from, false, nil
	}
	s := found.(source[B])
	live := k.Dirs(s.build)
	dirs := make([]string, len(live))
	for i, dir := range live {
		dirs[i] = dir + s.suffix
	}
	if err = copyDirs(ctx, dirs, k.Dirs(b)); err == nil && s.suffix != "" {
		err = copyLinks(live, k.Dirs(b))
	}
	if err == nil {
		err = evictDirs(k.Dirs(b))
	}
	return s.build, true, err
}

// copyLinks copies the links in directories, which snapshots do not have.
func copyLinks(from, to []string) error {
	for i, root := range from {
		err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.Type()&fs.ModeSymlink == 0 {
				return err
			}
			rel, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			return copyLink(root, path, to[i], filepath.Join(to[i], rel))
		})
		if err != nil {
			return fmt.Errorf("copying what is loaded: %w", err)
		}
	}
	return nil
}

// evictDirs syncs directories, all at once, and has none of it cached: a server's limit of
// memory does not count what others have read or written.
func evictDirs(dirs []string) error {
	for _, dir := range dirs {
		if err := evictTree(dir); err != nil {
			return err
		}
	}
	return nil
}

// copyDirs copies the directories of a stopped server to another's that was not started,
// which are made again.
func copyDirs(ctx context.Context, from, to []string) error {
	for i, root := range from {
		err := os.RemoveAll(to[i])
		if err == nil {
			err = CopyTree(ctx, root, root, to[i])
		}
		if err != nil {
			return fmt.Errorf("copying what is loaded: %w", err)
		}
	}
	return nil
}
