package sqlite

import (
	"fmt"

	"filewise"
	"filewise/internal/openfiles"
)

const (
	// A connection in WAL mode opens the database, its WAL and its WAL index.
	filesPerConnection = 3
	otherFiles         = 64 // what the rest of Filewise has open
)

// openFiles is the number of open files that the shape needs: those of the
// workers' connections, of one connection of our own for each file, and of the
// descriptor by which a file is synced.
func (s *shape) openFiles() int64 {
	connections := max(s.program.Connections(), len(s.shards)) + len(s.shards)
	if s.divided() { // with all files attached, and one that checks
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
