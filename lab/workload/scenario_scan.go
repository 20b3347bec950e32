package workload

import (
	"fmt"

	"filewise"
)

// publishedScan holds the article's seconds with 1 and with 40 files, and the difference in time in percent as printed:
// first cold, then warm. 0 means not measured.
var publishedScan = [scanQueries][2][3]float64{
	{{0.481, 0.537, 11.5}, {0.0103, 0.0159, 53.53}}, {{0.531, 0.567, 6.5}, {0.0567, 0.0478, -15.72}},
	{{0.486, 0.527, 8.3}, {0.0205, 0.0226, 10.16}}, {{7.44, 8.19, 10.0}, {7.0861, 7.6782, 8.36}},
	{{8.29, 9.46, 14.1}, {7.8960, 8.4054, 6.45}}, {{4.09, 4.02, -1.8}, {3.7241, 3.7422, 0.49}},
	{{8.58, 9.53, 11.0}, {8.3528, 9.2764, 11.06}}, {{7.31, 8.37, 14.4}, {7.0573, 7.7802, 10.24}},
	{{}, {0.0468, 0.0505, 8.05}}, {{}, {1.3608, 1.3966, 2.64}}, {{}, {0.0211, 0.0262, 24.14}},
}

// scanScenario returns the scenario that repeats an article on InnoDB, whose text names neither author nor year. Its
// default size loads in seconds and keeps the ratio of data to buffer pool.
func scanScenario() Scenario {
	return Scenario{
		Name:  "scan",
		Title: "Eleven queries on four interleaved tables, by number of data files",
		Summary: "Four tables of the same definition are loaded in turns, so that they lie interleaved, into a database much larger than its " +
			"buffer pool. " +
			"Eleven queries, from look-ups by key to full scans and joins, are measured each by itself, and all together by their geometric mean.",
		Source: Source{Title: "Single Innodb Datafile vs Multiple datafiles", Where: "on InnoDB 5.1.22"},
		Files:  []int{1, 4, 40},
		Bytes:  96 << 20,
		Params: Params{
			Connections: fragTables, CommitEvery: 1, Table: TableShared, Key: KeySequential, RowBytes: fragRowBytes,
			Rows: 40_000, Cache: string(filewise.CacheStorageCold), Data: DataOrdered, Repeat: 10, Batch: 500,
		},
		Best:      1,
		Published: scanFigures(),
		Timed:     true,
		Notes: []string{
			"The original compared 1 with 40 files: queries 1–8 cold, 20 times each with a server restart before each; all eleven warm, 55 " +
				"times, the 4 fastest and 4 slowest dropped.",
			"A restart of the server empties its buffer pool, not the operating system's cache: that is --cache buffer-cold here; --cache " +
				"storage-cold empties both.",
			"Warm queries that find their rows by an index take less than a millisecond: each is executed --batch times as often as the others, " +
				"so that there is something to measure.",
			"The original had one reader. Here --connections readers (4) execute a query at once, each on another of the four tables.",
			"The default is cold: caches are emptied before each query (a server by URL: as far as it allows). A query is executed once a " +
				"trial; on managed MariaDB and MySQL, whose buffer pool holds a twelfth of the data, a scan 20 times.",
			"Keys in the queries are scaled by the number of rows; values are as selective as in the original.",
		},
		Flags:  []string{"rows", "cache", "data", "repeat", "batch", "rate", "builds", "measure", "as-published", "scale"},
		Budget: phasedBudget, Overall: true, Filling: 0.6,
		New: NewScan, Design: scanDesign(),
	}
}

// scanFigures returns the published differences of 40 files against 1 file.
func scanFigures() []Figure {
	var all []Figure
	for q, both := range publishedScan {
		for i, how := range []string{VariantCold, VariantWarm} {
			if s := both[i]; s[0] > 0 {
				all = append(all, timed(Figure{Operation: queryOperation(q + 1), Variant: how, Files: 40, Against: 1,
					Words: fmt.Sprintf("query %d, %s: %g s with 1 file, %g s with 40", q+1, how, s[0], s[1])}, s[2]))
			}
		}
	}
	return all
}
