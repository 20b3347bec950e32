package sqlite

import (
	"context"
	"fmt"
	"path/filepath"

	"filewise"
	"filewise/engine/internal/script"
	"filewise/internal/filesystem"
)

// Restart closes every file, which checkpoints it, and opens it again: the page
// caches of all connections are gone.
func (d *database) Restart(ctx context.Context) error { return d.reopenAll(ctx, nil) }

// Evict does the same, with the files' pages dropped from the system's cache in
// between.
func (d *database) Evict(ctx context.Context) error { return d.reopenAll(ctx, evict) }

// evict drops a file's pages from the system's cache. No connection must be open:
// closing a descriptor drops the process's locks on the file.
func evict(path string) error { return filesystem.EvictIn(filepath.Dir(path), path) }

// reopenAll does something between closing the files and opening them.
func (d *database) reopenAll(ctx context.Context, between func(path string) error) error {
	if err := d.attached.close(); err != nil {
		return err
	}
	return d.each(ctx, func(_ context.Context, _ int, f *file) error { return d.reopen(f, between) })
}

func (d *database) reopen(f *file, between func(path string) error) error {
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

// phaseSteps returns what the phases execute on file i: statements of rows whose key
// belongs there, or, on the first file, queries over all; what is done without
// SQL is reported.
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
			l.note(fmt.Sprintf("%s: %d times over %d connections", p.Operation, p.Ops, max(p.Connections, 1)))
			l.addAll(s.sql.Statements("statement-"+p.Section, vars(s.program, s.shards[i].tables[0])))
		}
	}
	return l.Steps()
}

// tablesIn returns the whole tables of a file: table t lies in file t mod count.
func (s *shape) tablesIn(file int) []string {
	var tables []string
	for t := file; t < len(s.program.Tables); t += s.count {
		tables = append(tables, s.program.Tables[t].Name)
	}
	return tables
}

// wholeTables reports whether the workload's queries read whole tables, which are
// then not divided but placed, each in one file.
func (s *shape) wholeTables() bool { return s.program.Loads() && !s.divided() }

// supportedPhases refuses what the workloads of several phases cannot do here.
func supportedPhases(t filewise.Target, l filewise.Layout, p filewise.Program) error {
	if err := l.BackupOptions.Check(backupOptions); err != nil {
		return err
	}
	tables := p.Tables
	whole := p.Loads() && p.Sharding == nil
	switch {
	case l.AddedLater != "" && !p.Appends():
		return unsupported("use scenario inserts", "files added later in workload %s on SQLite", p.Workload)
	case whole && l.Data.Files > len(tables):
		return unsupported(fmt.Sprintf("choose 1 to %d files", len(tables)),
			"%d files for the %d tables of %s: SQLite keeps a table whole in one file", l.Data.Files, len(tables), p.Workload)
	case l.Discard && p.Restores():
		return unsupported("leave the restore out, as --discard does", "a backup that is thrown away cannot be restored")
	case l.Backup.Files > 0 && l.Backup.Files != l.Data.Files:
		return unsupported("compare numbers of data files", "%d backup files of %s: SQLite's backup has a file for each file", l.Backup.Files,
			filewise.FilesName(l.Data.Files))
	}
	if err := supportedOrders(l, p); err != nil {
		return err
	}
	switch l.Backup.Placement {
	case "", filewise.PlaceOne, filewise.PlaceRoundRobin:
		return nil
	case filewise.PlaceApart:
		return l.CheckBackupVolumes(t.Volumes)
	}
	return unsupported("use one, round-robin or apart", "placement %q of backups", l.Backup.Placement)
}
