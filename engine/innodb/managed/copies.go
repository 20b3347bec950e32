package managed

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"filewise"
)

// keeper returns the function that stores a copy of a loaded build's directories, on which no server is started. It
// returns nil if each build of the layout must be loaded: the files must belong to the system tablespace, which the
// server finds by its command line wherever they lie, or all be in the data directory. The server has stored the paths
// of other directories. A build restored from a dump already has a snapshot, which is shared in its place.
func (s *openServer) keeper(i *instance) func(context.Context) error {
	d := i.design
	alone := d.isSystem() || d.Program.Restored() && (len(d.data) == 1 || d.Layout.Data.Placement != filewise.PlaceRoundRobin)
	if !alone || d.Program.Preload == 0 && !d.Program.Restored() || d.Layout.AddedLater != "" {
		return nil
	}
	return func(ctx context.Context) error { return s.keep(ctx, i) }
}

func (s *openServer) keep(ctx context.Context, i *instance) error {
	if i.design.Program.Restored() {
		s.kept.Share(i.design.loadedKey(), i)
		return nil
	}
	err := i.purge(ctx)
	if err == nil {
		err = s.kept.Keep(ctx, i.design.loadedKey(), i, i.life, func() (*instance, error) {
			kept, err := s.register(i.design.again)
			if err == nil {
				kept.password = i.password
			}
			return kept, err
		})
	}
	return i.explain(failed("keeping what is loaded", err))
}

// copyKept fills the directories of a build from a loaded one. It returns false if there is none yet.
func (s *openServer) copyKept(ctx context.Context, i *instance) (bool, error) {
	from, kept, err := s.kept.Copy(ctx, i.design.loadedKey(), i)
	if !kept || err != nil {
		return kept, i.explain(err)
	}
	i.password, i.design.loading = from.password, false
	return true, i.design.forget()
}

// forget removes what a copy of a server must not have: its identity, and binary logs, whose index names the original's
// directory.
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

// loadedKey returns all that a loaded build depends on among the builds of one target.
func (d *design) loadedKey() string { return fmt.Sprintf("%+v %d", d.Layout, d.Program.Preload) }
