package sqlite

import (
	"fmt"

	"filewise"
	"filewise/engine/internal/operations"
	"filewise/internal/openfiles"
	"filewise/internal/sqlitedriver"
)

// Scope is a warning for every verdict on SQLite.
var Scope = filewise.Warning{
	Code:    "sqlite-scope",
	Message: "SQLite results do not carry over to SQL Server or Oracle: each SQLite file has its own write lock and syncs.",
	Remedy:  "Test on the engine you use.",
}

// pureGo is a warning for builds without cgo.
var pureGo = filewise.Warning{
	Code: "sqlite-pure-go",
	Message: "This Filewise has SQLite translated into Go (" + sqlitedriver.Driver() +
		"): it takes more CPU time for the same work than the C library, " +
		"so that it is slower, and may gain otherwise from more files.",
	Remedy: "Measure with a build with cgo: CGO_ENABLED=1 go build ./cmd/filewise.",
}

// polling is a warning for layouts in which several connections share a file. Measured with synchronous=FULL on 2
// cores: 16 connections on one file commit as much as one connection alone. There the lock waits for the storage, and
// the pauses do not matter.
var polling = filewise.Warning{
	Code:    "sqlite-polling",
	Message: "Connections that share a file poll for its write lock every 1 to 100 ms, so the lock can be idle in between.",
	Remedy:  "Repeat with --connections 1: if it is as fast on 1 file, polling costs nothing.",
}

// warnings returns the warnings about the shape.
func (s *shape) warnings() []filewise.Warning {
	out := append([]filewise.Warning{Scope}, s.ordersWarnings()...)
	if sqlitedriver.PureGo {
		out = append(out, pureGo)
	}
	files, connections, volumes := s.count-s.from, s.program.Connections(), len(s.target.Volumes)
	if connections > files {
		out = append(out, polling)
	}
	switch {
	case !s.program.Appends(): // other workloads say themselves who works where
	case files > connections:
		out = append(out, filewise.Warning{
			Code: "files-rotate",
			Message: fmt.Sprintf("%s on %d files: each rotates over its files by transaction, "+
				"and a file is touched once in up to %d transactions of its connection.",
				working(connections), files, (files+connections-1)/connections),
			Remedy: fmt.Sprintf("Use at least --connections %d for one connection a file.", files),
		})
	case connections%files != 0:
		out = append(out, filewise.Warning{
			Code: "uneven-load",
			Message: fmt.Sprintf("%d connections do not divide evenly by %d files: some files have %d, others %d.",
				connections, files, connections/files+1, connections/files),
			Remedy: fmt.Sprintf("Use --connections %d.", (connections/files+1)*files),
		})
	}
	used := min(volumes, files)
	if s.layout.Data.Placement != filewise.PlaceRoundRobin {
		used = 1
	}
	if used < volumes && s.layout.Data.Volumes == "" { // explicitly requested volumes need no warning
		out = append(out, filewise.Warning{
			Code:    "volumes-unused",
			Message: fmt.Sprintf("%s: %d of %d volumes hold no file of this layout.", s.layout.Name, volumes-used, volumes),
			Remedy:  "Use --placement round-robin and at least as many files as volumes to use them all.",
		})
	}
	if operations.Pruned(s.program, s.count) {
		out = append(out, filewise.Warning{
			Code: "files-are-pruned",
			Message: fmt.Sprintf("Without an index a statement reads the whole table in the file of its key: with %d files that is 1/%d of all "+
				"rows, "+
				"which makes selects, updates and deletes faster for a reason that has nothing to do with files.", s.count, s.count),
			Remedy: "Use --index key to see the files alone.",
		})
	}
	if s.layout.Data.Allocation == filewise.Growing && s.layout.Data.Growth%pageBytes != 0 {
		out = append(out, filewise.Warning{
			Code:    "growth-rounded",
			Message: fmt.Sprintf("Files grow by %d bytes: --growth %d, in whole pages.", s.shards[0].chunk, s.layout.Data.Growth),
			Remedy:  fmt.Sprintf("Use a multiple of %d bytes.", pageBytes),
		})
	}
	return out
}

// working returns a phrase for how many connections work.
func working(connections int) string {
	if connections == 1 {
		return "1 connection works"
	}
	return fmt.Sprintf("%d connections work", connections)
}

const (
	// A connection in WAL mode opens the database, its WAL and its WAL index.
	filesPerConnection = 3
	otherFiles         = 64 // open files of the rest of Filewise
)

// openFiles returns how many open files the shape needs. They are the workers' connections, Filewise's connection to
// each file, and the descriptor by which each file is synced.
func (s *shape) openFiles() int64 {
	connections := max(s.program.Connections(), len(s.shards)) + len(s.shards)
	if s.divided() { // with all files attached, and one connection that checks
		connections += (min(s.program.Connections(), mostLinks) + 1) * len(s.shards)
	}
	return int64(connections*filesPerConnection + len(s.shards) + otherFiles)
}

func (s *shape) fitsOpenFiles() error {
	limit, _, known := openfiles.Limits() // Go has raised it to what the user may have (os, rlimit.go)
	need := s.openFiles()
	if !known || uint64(need) <= limit {
		return nil
	}
	return filewise.Errorf(filewise.CodePreflight,
		fmt.Sprintf("raise the limit (ulimit -n %d) or take fewer connections or files", need),
		"%d connections on %s need %d open files (database, WAL and WAL index of each connection); the limit is %d",
		s.program.Connections(), filewise.FilesName(len(s.shards)), need, limit)
}
