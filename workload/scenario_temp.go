package workload

import "time"

// tempFilling is the part of the size that the payload of the temporary tables
// takes that all connections fill at once: with its order, the engine's own part of
// a page and what is not full of it, that is about all of them at their peak.
const tempFilling = 0.3

// tempScenario is what readers of Shea's experiment asked for: the same for the
// temporary database.
func tempScenario() Scenario {
	return Scenario{
		Name:  "temp",
		Title: "Temporary tables, by number of temporary files",
		Summary: "Connections create temporary tables, fill them, sort them into others, join and drop them, again and again at the same time. " +
			"The question is whether spreading the temporary files makes that faster. " +
			"Throughput is measured in cycles per second, each from create to drop.",
		Source: Source{
			Author: "Linchi Shea", Title: "How Many Data Files Should I Create for a User Database? (readers' comments)", Where: "SQLblog",
			Year: 2007,
		},
		Files: []int{1, 2, 4, 8},
		Bytes: 16 << 20,
		Params: Params{
			Connections: 4, CommitEvery: 1, Table: TableShared, Key: KeySequential, RowBytes: 400, Rows: 4_000, Cycle: CycleJoin,
		},
		Published: []Figure{
			{Files: 2, Against: 1, Sign: -1, Words: "a reader reports of tempdb: two files on one weak drive show contention earlier than one"},
			{Files: 4, Against: 1, Sign: +1, Words: "a reader reports: tempdb split from 1 into 4 files halved a data load's time and kept it at " +
				"200 GB, where one file had grown to 1 TB"},
		},
		Notes: []string{
			"No article measured this: the figures are what readers reported of tempdb on SQL Server.",
			"On PostgreSQL the files are tablespaces of temp_tablespaces, each in a directory of its own, and sorts and joins that spill go there " +
				"too; on MariaDB they are the files of innodb_temp_data_file_path, filled one after the other, and sorts that spill go to its tmpdir.",
			"Temporary tables that stay in memory touch no file: the session's memory for them is small here, and --size says how much they take " +
				"at once.",
		},
		Flags:  []string{"rows", "row-bytes", "cycle", "p99-limit", "window", "warm-up"},
		Budget: phasedBudget, Window: 4 * time.Second, Temp: true, Filling: tempFilling,
		New: NewTemp,
	}
}
