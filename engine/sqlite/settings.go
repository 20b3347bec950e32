package sqlite

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"filewise"
	"filewise/internal/nearest"
)

// settable are the pragmas that a user may set for every connection: none of
// them changes what is durable or where files lie.
var settable = []string{"cache_size", "mmap_size", "temp_store", "wal_autocheckpoint"}

// readSettings takes over the user's own settings, all of them whole numbers.
func (s *shape) readSettings(settings map[string]string) error {
	for _, k := range slices.Sorted(maps.Keys(settings)) {
		if !slices.Contains(settable, k) {
			return filewise.Errorf(filewise.CodeUsage, nearest.Remedy(k, settable), "--set %s: SQLite has no such setting here", k)
		}
		n, err := strconv.ParseInt(settings[k], 10, 32)
		if err != nil {
			return filewise.Errorf(filewise.CodeUsage, "give a whole number", "--set %s=%s: %w", k, settings[k], err)
		}
		if k == "wal_autocheckpoint" {
			s.autoCheckpoint = int(n)
			continue
		}
		s.settings = append(s.settings, fmt.Sprintf("%s = %d", k, n))
	}
	return nil
}
