package managed

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"filewise"
	"filewise/engine/internal/server"
)

// copier keeps a loaded build of the system tablespace, whose files the server finds by its
// command line wherever they lie. It implements filewise.Copier.
type copier struct {
	server   *openServer
	instance *instance
}

// copier of a build; nil: the builds of its layout are loaded each.
func (s *openServer) copier(i *instance) filewise.Copier {
	if !i.design.isSystem() || i.design.Program.Preload == 0 || i.design.Layout.AddedLater != "" {
		return nil
	}
	return copier{s, i}
}

// Keep makes directories like those of another build, which no server is started on.
func (c copier) Keep(ctx context.Context) error {
	i := c.instance
	if err := errors.Join(i.purge(ctx), i.life.Stop(ctx)); err != nil {
		return i.explain(failed("keeping what is loaded", err))
	}
	kept, err := c.server.register(i.design.again)
	if err != nil {
		return err
	}
	kept.password = i.password
	if err := copyBuild(ctx, i, kept); err != nil {
		return errors.Join(err, c.server.drop(kept))
	}
	if err := i.life.Start(ctx); err != nil {
		return errors.Join(err, c.server.drop(kept))
	}
	c.server.kept.Store(i.design.loadedKey(), kept)
	return nil
}

// copyKept fills the directories of a build from a loaded one; false: there is none yet.
func (s *openServer) copyKept(ctx context.Context, i *instance) (bool, error) {
	found, ok := s.kept.Load(i.design.loadedKey())
	if !ok {
		return false, nil
	}
	kept := found.(*instance)
	i.password, i.design.loading = kept.password, false
	if err := copyBuild(ctx, kept, i); err != nil {
		return true, i.explain(err)
	}
	return true, i.design.forget()
}

// forget removes what a copy of a server may not have: its identity, and binary logs, whose
// index names the directory of the original.
func (d *design) forget() error {
	paths := []string{filepath.Join(d.dataDir(), "auto.cnf")}
	if d.binlog() {
		logs, err := filepath.Glob(filepath.Join(d.binlogDir(), binlogName+".*"))
		if err != nil {
			return fmt.Errorf("binary logs: %w", err)
		}
		paths = append(paths, logs...)
	}
	for _, path := range paths {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("copying what is loaded: %w", err)
		}
	}
	return nil
}

// copyBuild copies the directories of a stopped server to those of one that was not started.
func copyBuild(ctx context.Context, from, to *instance) error {
	_, err := server.Take(ctx, from.design.dirs, func(root string) string {
		return to.design.dirs[slices.Index(from.design.dirs, root)]
	})
	return failed("copying what is loaded", err)
}

// loadedKey is what a loaded build depends on, of the builds of one target.
func (d *design) loadedKey() string { return fmt.Sprintf("%+v %d", d.Layout, d.Program.Preload) }
