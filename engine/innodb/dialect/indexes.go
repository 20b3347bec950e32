package dialect

import "filewise"

// CheckIndexes refuses what InnoDB cannot do with indexes.
func CheckIndexes(l filewise.Layout) error {
	if l.Indexes != "" || l.IndexVolume != "" {
		return unsupported("leave --indexes and --index-volume out",
			"an index of InnoDB lies in the tablespace of its table: it cannot have files of its own, so there is nothing to compare")
	}
	return nil
}
