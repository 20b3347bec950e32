package workload

import (
	"fmt"

	"filewise"
)

// backupScenario returns the scenario that repeats Ozar's experiment, on a database that can be backed up in seconds.
func backupScenario() Scenario {
	return Scenario{
		Name:  "backup",
		Title: "Backup and restore, by number of backup files",
		Summary: "A loaded database is backed up into 1, 2, 4 or 8 files, on one volume or spread over several, and restored from them. " +
			"Backup and restore are measured each by itself; every restore is verified.",
		Source: Source{
			Author: "Brent Ozar", Title: "Back Up SQL Server 43%-67% Faster by Writing to Multiple Files", Where: "brentozar.com", Year: 2020,
		},
		Files: []int{1, 2, 4, 8},
		Bytes: 96 << 20,
		Params: Params{
			Connections: 1, CommitEvery: 1, Table: TableShared, Key: KeySequential, RowBytes: fragRowBytes, Rows: 40_000,
			Cache: string(filewise.CacheStorageCold),
		},
		Best:      4,
		Published: backupFigures(),
		Timed:     true,
		Notes: []string{
			"The original backed up 4 data files on separate drives, compressed, on 96 cores, once for each number of files.",
			"NUL showed how fast that server could read and compress: the limit that writing can only approach.",
			"--discard is that condition, as a separate run: what is thrown away cannot be restored, nor recommended. Reports of runs that keep " +
				"the same backups draw it as their limit. --data-files and --backup-option vary the data files and the engine's own parameters " +
				"beside the backup files.",
			"Data are read from storage, and so are backups that are restored: caches are emptied before each. --cache warm leaves them, and a " +
				"server by URL keeps them.",
			"A striped backup is worthless if one stripe is lost: test the restore, and keep its script.",
		},
		Flags: []string{"rows", "cache", "builds", "discard", "concurrent-load", "backup-option", "data-files", "database", "as-published",
			"scale"},
		Budget: phasedBudget, Stripes: true, Filling: 0.6,
		New: NewBackup, Design: backupDesign(),
	}
}

const backupFile = "backup file"

// backupFigures returns the differences in time that the article printed, next to its rounded minutes, and the reports
// of its readers.
func backupFigures() []Figure {
	places := []struct{ variant, words string }{
		{VariantOneVolume, "one volume"}, {VariantVolumes, "one volume each, 4 at most"}, {VariantDiscard, "NUL"},
	}
	minutes := map[int][3]float64{1: {9.1, 9.1, 9.4}, 2: {7.9, 6.9, 6.8}, 4: {5.1, 4.3, 4.3}, 8: {6.2, 3.0, 2.9}}
	printed := map[int][3]float64{2: {-13, -24, -28}, 4: {-43, -53, -54}, 8: {-32, -67, -70}}
	var all []Figure
	for _, files := range []int{2, 4, 8} {
		for i, place := range places {
			all = append(all, timed(Figure{Operation: OperationBackup, Variant: place.variant, Files: files, Against: 1,
				Words: fmt.Sprintf("%s on %s: %g min, against %g min with 1 file", filewise.Counted(files, backupFile), place.words,
					minutes[files][i], minutes[1][i]),
			}, printed[files][i]))
		}
	}
	reader := func(operation string, files int, words string) Figure {
		return Figure{Operation: operation, Files: files, Against: 1, Reader: true, Words: words}
	}
	oneDrive := reader(OperationBackup, 8, "a reader reports of 527 GB: 10.5 min to 8 files on one drive, against 27 min to 1")
	oneDrive.Variant = VariantOneVolume
	return append(all, byTimes(oneDrive, 27, 10.5),
		timed(reader(OperationBackup, 8, "a reader reports of 31 GB: 50 % less time to 8 files"), -50),
		timed(reader(OperationBackup, 6, "a reader reports: 75 % less time to 6 files"), -75),
		byTimes(reader(OperationRestore, 8, "a reader reports of 527 GB: 8 min from 8 files, against 19.75 min from 1"), 19.75, 8))
}

// timed sets the printed difference in time of a figure, in percent, and the difference in throughput that follows from
// it.
func timed(f Figure, printed float64) Figure {
	percent := 100 * (1/(1+printed/100) - 1)
	f.Time, f.Percent, f.Sign = &printed, &percent, +1
	if printed > 0 {
		f.Sign = -1
	}
	return f
}

// byTimes sets the difference of a figure from two times for which no percentage was printed.
func byTimes(f Figure, against, took float64) Figure {
	f = timed(f, 100*(took/against-1))
	f.Ours = true
	return f
}
