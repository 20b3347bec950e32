package workload

import "time"

// phasedBudget leaves time for several blocks of trials of many phases on a server.
const phasedBudget = 4 * time.Minute

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
			Rows: 2000, Mode: ModeBoth, Connect: ConnectPooled, Index: IndexNone,
		},
		Published: []Figure{
			{Files: 1000, Against: 1, Sign: +1, Words: "Oracle: thousands of smallfile datafiles win for inserts and selects from one process"},
			{Files: 1, Against: 1000, Sign: +1, Words: "Oracle: a bigfile wins for updates and deletes from one process"},
			{Files: 8, Against: 1, Sign: +1, Words: "Oracle: one datafile per core wins for concurrent work"},
			{Files: 1, Against: 8, Sign: +1, Words: "SQL Server: one file wins for concurrent DML, and for selects from one process"},
			{Files: 8, Against: 1, Sign: +1, Words: "SQL Server: several files win for changes made by one process"},
		},
		Notes: []string{
			"The original ran each configuration once; its numbers are in a chart, so that only its words are repeated here.",
			"There, one process worked on 50,000 rows (Oracle) or 350,000 (SQL Server); the concurrent part started a client process for each of 2,000 statements and looked once a second whether all had ended.",
			"Oracle's select of one process was parsed there and never executed; here the row is fetched.",
		},
		Flags:  []string{"rows", "mode", "connect", "index"},
		Budget: phasedBudget, Phased: true,
		New: NewDML,
	}
}
