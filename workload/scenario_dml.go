package workload

import "time"

// phasedBudget leaves time for several blocks of trials of many phases on a server.
const phasedBudget = 5 * time.Minute

// IndexedRepeat is how often a row is selected where an index finds it, some four
// times as fast as reading all.
const IndexedRepeat = 20

// dmlScenario repeats Echeverria's experiment. The table has no index, as
// published, so that what finds a row by its key reads them all: the default is
// few rows.
func dmlScenario() Scenario {
	return Scenario{
		Name:  "dml",
		Title: "Inserts, selects, updates and deletes of single rows, by number of data files",
		Summary: "One process inserts rows, then selects, updates and deletes each by its key, in a loop on the server with a commit per row; " +
			"then concurrent connections do the same, each statement sent by the client. " +
			"Each of the eight is measured by itself, in rows per second.",
		Source: Source{
			Author: "Pablo Echeverria", Title: "Performance Improvement with Multiple Database Files for SQL Server and Oracle",
			Where: "MSSQLTips", Year: 2022,
		},
		Files: []int{1, 8},
		Bytes: 64 << 20,
		Params: Params{
			Connections: 8, CommitEvery: 1, Table: TableShared, Key: KeySequential, RowBytes: dmlRowBytes,
			Rows: 1000, Repeat: 5, Mode: ModeBoth, Connect: ConnectPooled, Index: IndexNone,
		},
		Published: dmlFigures(),
		Timed:     true,
		Notes: []string{
			"Every row is selected --repeat times, for a select waits for no storage and would be over too soon.",
			"Where layouts divide the rows by their key (partitions, SQLite's files) the table has an index on it, and a row is selected 20 " +
				"times: without one a statement reads all rows of the key's file, which are the fewer the more files there are. --index none is the " +
				"published table.",
			"The original ran each configuration once; its numbers are in a chart, so that only its words are repeated here.",
			"There, one process worked on 50,000 rows (Oracle) or 350,000 (SQL Server); the concurrent part started a client process for each of " +
				"2,000 statements and looked once a second whether all had ended.",
			"Oracle's select of one process was parsed there and never executed; here the row is fetched, but --as-published.",
		},
		Flags:  []string{"rows", "repeat", "mode", "connect", "index", "p99-limit", "as-published", "scale"},
		Budget: phasedBudget,
		New:    NewDML, Design: dmlDesign(),
	}
}

// dmlFigures are the article's words, one for each family that they speak of.
func dmlFigures() []Figure {
	var all []Figure
	say := func(engine string, files, against int, words string, families ...string) {
		for _, f := range families {
			all = append(all, Figure{Family: f, Engine: engine, Files: files, Against: against, Sign: +1, Words: words})
		}
	}
	say("oracle", 1000, 1, "Oracle: thousands of smallfile datafiles win for inserts and selects from one process", opInsert, opSelect)
	say("oracle", 1, 1000, "Oracle: a bigfile wins for updates and deletes from one process", opUpdate, opDelete)
	say("sqlserver", 8, 1, "SQL Server: several files win for changes made by one process", opInsert, opUpdate, opDelete)
	say("sqlserver", 1, 8, "SQL Server: one file wins for selects from one process", opSelect)
	for _, op := range dmlOps {
		say("oracle", 8, 1, "Oracle: one datafile per core (8) wins for concurrent work", concurrently+op)
		say("sqlserver", 1, 8, "SQL Server: one file wins for concurrent work", concurrently+op)
	}
	return all
}

// concurrently begins the names of the families of concurrent connections.
const concurrently = "concurrent "
