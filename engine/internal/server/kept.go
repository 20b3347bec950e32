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

// Kept holds loaded builds of an opened target. Later builds of the same layouts begin as copies of them. A kept build
// is never started again, or has a snapshot that is copied in its place.
type Kept[B comparable] struct {
	Dirs func(B) []string
	Drop func(B) error

	builds sync.Map // a source for each key, which names what the build is loaded with
}

// source is a build to copy. suffix is appended to the names of the directories to copy.
type source[B comparable] struct {
	build  B
	suffix string
}

// Share lets later builds begin as copies of a build's snapshot.
func (k *Kept[B]) Share(key string, b B) { k.builds.Store(key, source[B]{b, snapshotSuffix}) }

// Forget stops later builds from being copies of a build. It is called before the build is dropped.
func (k *Kept[B]) Forget(b B) {
	k.builds.Range(func(key, s any) bool {
		if s.(source[B]).build == b {
			k.builds.Delete(key)
		}
		return true
	})
}

// Keep stops a loaded build's server, copies its directories to a new build that again makes, and starts the server
// again.
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

// Copy fills the directories of a build from a kept one, and returns the kept one. kept is false if there is none for
// the key.
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

// copyLinks copies the symbolic links in directories. Snapshots do not contain links.
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

// evictDirs syncs directories and drops their files from the cache. A server's memory limit does not count pages that
// other processes have cached.
func evictDirs(dirs []string) error {
	for _, dir := range dirs {
		if err := evictTree(dir); err != nil {
			return err
		}
	}
	return nil
}

// copyDirs copies the directories of a stopped server to the directories of one that was not started, which are removed and
// made again.
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
