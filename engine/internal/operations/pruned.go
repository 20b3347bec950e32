package operations

import (
	"fmt"

	"filewise"
)

// Pruned reports whether a program's statements, lacking an index, scan one whole file of several.
func Pruned(p filewise.Program, files int) bool {
	return p.Unindexed() && files > 1
}

// PrunedPartitions returns a warning if Pruned is true of the partitions, else nil.
func PrunedPartitions(p filewise.Program, partitions int, remedy string) []filewise.Warning {
	if !Pruned(p, partitions) {
		return nil
	}
	return []filewise.Warning{{
		Code: "partitions-are-pruned", Remedy: remedy,
		Message: fmt.Sprintf("without an index a statement reads the whole partition of its key: with %d partitions that is 1/%d of the table, "+
			"which makes selects, updates and deletes faster for a reason that has nothing to do with files", partitions, partitions),
	}}
}
