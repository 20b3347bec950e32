package sqlite

import "filewise"

// Describe says what N files are on SQLite.
func (engine) Describe() filewise.Description {
	return filewise.Description{
		Mode:           filewise.Embedded,
		Scans:          true,
		Files:          "N database files with a shard of the table each, and a write lock and a WAL for each file",
		Kinds:          []filewise.Kind{filewise.KindShards},
		StripesAsFiles: true,
		Note:           "the gain comes from N write locks and parallel syncs; it says nothing about data files of SQL Server or Oracle",
	}
}
