package dialect

import (
	"context"
	"database/sql"

	"filewise"
)

// readCheckpoints reads how far the log has gone round. InnoDB moves its checkpoint all the
// time; what comes in cycles is that the log's room is used up, from when on pages are
// written because of it.
func readCheckpoints(ctx context.Context, db *sql.DB) ([]filewise.Counter, error) {
	var names []string
	for _, p := range Products() {
		names = append(names, p.LogEnd, p.LogRoom)
	}
	values, err := readStatus(ctx, db, names...)
	if err != nil {
		return nil, err
	}
	return cyclesOf(values), nil
}

func cyclesOf(values map[string]float64) []filewise.Counter {
	for _, p := range Products() {
		if end, room := values[p.LogEnd], values[p.LogRoom]; end > 0 && room > 0 {
			return []filewise.Counter{{Name: filewise.CheckpointCycles, Unit: "cycles", Value: end / room}}
		}
	}
	return nil
}
