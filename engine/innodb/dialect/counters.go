package dialect

import (
	"context"
	"database/sql"
	"maps"
	"slices"

	"filewise"
)

// counters are the cumulative counters of InnoDB and of the binary log that say
// where writes went and what was waited for (documentation of both: “InnoDB
// Status Variables”, “Server Status Variables”).
var counters = map[string]string{
	"Innodb_data_written":        "bytes",
	"Innodb_data_writes":         "writes",
	"Innodb_data_fsyncs":         "syncs",
	"Innodb_data_read":           "bytes",
	"Innodb_pages_written":       "pages",
	"Innodb_pages_created":       "pages",
	"Innodb_dblwr_pages_written": "pages",
	"Innodb_os_log_written":      "bytes",
	"Innodb_os_log_fsyncs":       "syncs",
	"Innodb_log_writes":          "writes",
	"Innodb_log_write_requests":  "requests",
	"Innodb_log_waits":           "waits",
	// How far the log was written, and its checkpoint came: of MariaDB, of MySQL.
	"Innodb_lsn_current":             "bytes",
	"Innodb_lsn_last_checkpoint":     "bytes",
	"Innodb_redo_log_current_lsn":    "bytes",
	"Innodb_redo_log_checkpoint_lsn": "bytes",
	"Innodb_buffer_pool_wait_free":   "waits",
	"Innodb_buffer_pool_reads":       "pages",
	"Innodb_row_lock_waits":          "waits",
	"Innodb_row_lock_time":           "ms",
	"Innodb_rows_inserted":           "rows",
	"Binlog_commits":                 "commits",
	"Binlog_group_commits":           "groups", // each written and synced at once
}

func readCounters(ctx context.Context, db *sql.DB) ([]filewise.Counter, error) {
	values, err := readStatus(ctx, db, slices.Sorted(maps.Keys(counters))...)
	var all []filewise.Counter
	for name, x := range values {
		all = append(all, filewise.Counter{Name: name, Unit: counters[name], Value: x})
	}
	return all, err
}
