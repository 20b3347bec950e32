package innodb

import (
	"context"
	"database/sql"

	"filewise"
)

// Checkpoints is the probe of how far the log has gone round. InnoDB moves its
// checkpoint all the time; what comes in cycles is that the log's room is used up,
// from when on pages are written because of it.
func Checkpoints(host Host) filewise.Probe {
	return instrument{&Instruments{Host: host}, filewise.ProbeCheckpoints, readCheckpoints}
}

// logStatus are where each product tells the log's end and its room, in bytes:
// MariaDB since 10.5, MySQL since 8.0.30.
var logStatus = [][2]string{
	{"Innodb_lsn_current", "Innodb_checkpoint_max_age"},
	{"Innodb_redo_log_current_lsn", "Innodb_redo_log_capacity_resized"},
}

func readCheckpoints(ctx context.Context, db *sql.DB) ([]filewise.Counter, error) {
	var names []string
	for _, n := range logStatus {
		names = append(names, n[0], n[1])
	}
	values, err := readStatus(ctx, db, names...)
	if err != nil {
		return nil, err
	}
	return cyclesOf(values), nil
}

func cyclesOf(values map[string]float64) []filewise.Counter {
	for _, n := range logStatus {
		if end, room := values[n[0]], values[n[1]]; end > 0 && room > 0 {
			return []filewise.Counter{{Name: filewise.CheckpointCycles, Unit: "cycles", Value: end / room}}
		}
	}
	return nil
}
