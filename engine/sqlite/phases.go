package sqlite

import (
	"context"
	"fmt"
	"path/filepath"

	"filewise"
	"filewise/engine/internal/script"
	managed "filewise/engine/internal/server"
)

// Restart closes every file, which checkpoints it, and opens it again: the page
// caches of all connections are gone.
func (d *database) Restart(ctx context.Context) error { return d.reopenAll(ctx, nil) }

// Evict does the same, with the files' pages dropped from the system's cache in
// between.
func (d *database) Evict(ctx context.Context) error { return d.reopenAll(ctx, evict) }

// evict drops a file's pages from the system's cache. No connection may be open:
// closing a descriptor drops the process's locks on the file.
func evict(path string) error { return managed.Evict(filepath.Dir(path), path) }

// reopenAll does something between closing the files and opening them.
func (d *database) reopenAll(ctx context.Context, between func(path string) error) error {
	if err := d.attached.close(); err != nil {
		return err
	}
	return d.each(ctx, func(ctx context.Context, _ int, f *file) error { return d.reopen(ctx, f, between) })
}

func (d *database) reopen(ctx context.Context, f *file, between func(path string) error) error {
	if err := f.keeper.Close(); err != nil {
		return fmt.Errorf("closing %s: %w", f.path, err)
	}
	f.keeper = nil
	err := f.fd.Sync()
	if err == nil && between != nil {
		err = between(f.path)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	if f.keeper, err = openBy(keepers, f.path); err != nil {
		return err
	}
	return d.ready(f.keeper, f.shard)
}

// phaseSteps are what the phases execute on file i: statements of rows whose key
// belongs there, or, on the first file, queries over all; what is done without
// SQL is said.
func (s *shape) phaseSteps(i int) (script.Steps, error) {
	switch {
	case s.program.Custom != nil:
		return s.customSteps(i)
	case s.divided():
		return s.ordersSteps(i)
	}
	l := s.lister(filewise.StageMeasure, i)
	for _, p := range s.program.Phases {
		switch {
		case p.Act == filewise.ActBackup:
			l.note("copy the file by SQLite's online backup, a thread for each file, and sync the copy")
		case p.Act == filewise.ActRestore:
			l.note("copy the backup back into a new file, sync it, PRAGMA integrity_check, and compare its tables with the original's")
		case i == 0 || !s.wholeTables():
			l.note(fmt.Sprintf("%s: %d times over %d connections", p.Family, p.Ops, max(p.Connections, 1)))
			l.addAll(s.sql.Statements("statement-"+p.Section, vars(s.program, s.shards[i].tables[0])))
		}
	}
	return l.Steps()
}
