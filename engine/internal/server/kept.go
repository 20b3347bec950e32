package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
)

// Kept are builds of an opened target that were loaded, and are started no more: the next
// builds of the same layouts begin as copies of them.
type Kept[B any] struct {
	Dirs func(B) []string
	Drop func(B) error

	builds sync.Map // by what they are loaded with
}

// Keep stops a loaded build's server, copies its directories to those of another, which
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
		k.builds.Store(key, kept)
	case made:
		err = errors.Join(err, k.Drop(kept))
	}
	return err
}

// Copy fills the directories of a build from one that was kept; false: there is none.
func (k *Kept[B]) Copy(ctx context.Context, key string, b B) (from B, kept bool, err error) {
	found, kept := k.builds.Load(key)
	if !kept {
		return from, false, nil
	}
	from = found.(B)
	if err = copyDirs(ctx, k.Dirs(from), k.Dirs(b)); err == nil {
		err = evictDirs(k.Dirs(b))
	}
	return from, true, err
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

// copyDirs copies the directories of a stopped server to those of one that was not started,
// which are made anew.
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
