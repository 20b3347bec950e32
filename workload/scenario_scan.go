package workload

import "fmt"

// publishedScan are the article's seconds: cold with 1 and with 40 files, warm with
// 1 and with 40; 0: not measured.
var publishedScan = [scanQueries][4]float64{
	{0.481, 0.537, 0.0103, 0.0159}, {0.531, 0.567, 0.0567, 0.0478}, {0.486, 0.527, 0.0205, 0.0226},
	{7.44, 8.19, 7.0861, 7.6782}, {8.29, 9.46, 7.8960, 8.4054}, {4.09, 4.02, 3.7241, 3.7422},
	{8.58, 9.53, 8.3528, 9.2764}, {7.31, 8.37, 7.0573, 7.7802}, {0, 0, 0.0468, 0.0505},
	{0, 0, 1.3608, 1.3966}, {0, 0, 0.0211, 0.0262},
}

// scanScenario repeats the MySQL Performance blog's experiment at a size whose
// load takes seconds; data and buffer pool keep the article's proportion.
func scanScenario() Scenario {
	return Scenario{
		Name:  "scan",
		Title: "Eleven queries on four interleaved tables, by number of data files",
		Summary: "Four tables of the same definition are loaded in turns, so that they lie interleaved, into a database much larger than its " +
			"buffer pool. " +
			"Eleven queries, from look-ups by key to full scans and joins, are measured each by itself, and all together by their geometric mean.",
		Source: Source{
			Author: "MySQL Performance", Title: "Single InnoDB Datafile vs Multiple datafiles", Where: "its blog, on InnoDB 5.1.22", Year: 2008,
		},
		Files: []int{1, 4},
		Bytes: 96 << 20,
		Params: Params{
			Connections: 1, CommitEvery: 1, Table: TableShared, Key: KeySequential, RowBytes: fragRowBytes,
			Rows: 40_000, Cache: CacheWarm, Data: DataOrdered, Repeat: 10, Batch: 500,
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
			"Keys in the queries are scaled by the number of rows; values are as selective as in the original.",
		},
		Flags:  []string{"rows", "cache", "data", "repeat", "batch", "instances", "as-published", "scale"},
		Budget: phasedBudget, Overall: true, Filling: 0.6,
		New: NewScan, Design: scanDesign(),
	}
}

// scanFigures are the published differences in throughput of 40 files against 1.
func scanFigures() []Figure {
	var all []Figure
	for q, s := range publishedScan {
		for i, how := range []string{VariantCold, VariantWarm} {
			one, forty := s[2*i], s[2*i+1]
			if one == 0 {
				continue
			}
			percent, sign := 100*(one/forty-1), -1
			if forty < one {
				sign = +1
			}
			all = append(all, Figure{Family: queryFamily(q + 1), Variant: how, Files: 40, Against: 1, Percent: &percent, Sign: sign,
				Words: fmt.Sprintf("query %d, %s: %g s with 1 file, %g s with 40", q+1, how, one, forty)})
		}
	}
	return all
}
