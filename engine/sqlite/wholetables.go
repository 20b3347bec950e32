package sqlite

import (
	"fmt"

	"filewise"
)

// tablesIn are the whole tables of a file: table t lies in file t mod count.
func (s *shape) tablesIn(file int) []string {
	var tables []string
	for t := file; t < len(s.program.Tables); t += s.count {
		tables = append(tables, s.program.Tables[t].Name)
	}
	return tables
}

// wholeTables says whether the workload's queries read whole tables, which are
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
		if len(l.BackupVolumes(t.Volumes)) == 0 {
			return filewise.Errorf(filewise.CodeUsage, "give one more volume, for the backups",
				"backups apart from the data of %s: every volume holds data files", l.Name)
		}
		return nil
	}
	return unsupported("use one, round-robin or apart", "placement %q of backups", l.Backup.Placement)
}
