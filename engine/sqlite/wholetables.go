package sqlite

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"filewise"
)

// fragTables are the tables of scan and backup.
const fragTables = 4

// fragments are the tables of a file: table t lies in file (t − 1) mod count.
func fragments(file, count int) []string {
	var tables []string
	for t := file + 1; t <= fragTables; t += count {
		tables = append(tables, "frag"+strconv.Itoa(t))
	}
	return tables
}

// tableNumber is the number of a table of scan; 0: it is none.
func tableNumber(table string) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(table, "frag"))
	return n
}

// wholeTables says whether the workload's queries read whole tables, which are
// then not divided but placed, each in one file.
func (s *shape) wholeTables() bool { return slices.Contains(wholeTables, s.program.Workload) }

// bulkLoaded says whether the workload's tables are loaded in bulk.
func (s *shape) bulkLoaded() bool { return s.wholeTables() || s.program.Workload == ordersWorkload }

var wholeTables = []string{"scan", "backup"}

// supportedPhases refuses what the workloads of several phases cannot do here.
func supportedPhases(t filewise.Target, l filewise.Layout, p filewise.Program) error {
	unsupported := func(remedy, format string, args ...any) error {
		return filewise.Errorf(filewise.CodeUsage, remedy, "%s: %w", fmt.Sprintf(format, args...), filewise.ErrUnsupported)
	}
	if err := l.BackupOptions.Check(backupOptions); err != nil {
		return err
	}
	switch {
	case l.AddedLater != "" && p.Workload != "inserts":
		return unsupported("use scenario inserts", "files added later in workload %s on SQLite", p.Workload)
	case slices.Contains(wholeTables, p.Workload) && l.Data.Files > fragTables:
		return unsupported(fmt.Sprintf("choose 1 to %d files", fragTables),
			"%d files for the %d tables of %s: SQLite keeps a table whole in one file", l.Data.Files, fragTables, p.Workload)
	case l.Discard && p.Restores():
		return unsupported("leave the restore out, as --discard does", "a backup that is thrown away cannot be restored")
	case l.Backup.Files > 0 && l.Backup.Files != l.Data.Files:
		return unsupported("compare numbers of data files", "%d backup files of %s: SQLite's backup has a file for each file", l.Backup.Files, filewise.FilesName(l.Data.Files))
	}
	if err := supportedOrders(l, p); err != nil {
		return err
	}
	switch l.Backup.Placement {
	case "", filewise.PlaceOne, filewise.PlaceRoundRobin:
		return nil
	case filewise.PlaceApart:
		if len(l.BackupVolumes(t.Volumes)) == 0 {
			return filewise.Errorf(filewise.CodeUsage, "give one more volume, for the backups", "backups apart from the data of %s: every volume holds data files", l.Name)
		}
		return nil
	}
	return unsupported("use one, round-robin or apart", "placement %q of backups", l.Backup.Placement)
}
