package private

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"filewise"
)

// statusProbe reads the server's cumulative counters.
type statusProbe struct{ instance *instance }

// Name is the probe's name in the report.
func (s statusProbe) Name() string { return s.instance.design.product.Name }

// Read returns the counters that this release has.
func (s statusProbe) Read(ctx context.Context) ([]filewise.Counter, error) {
	p, control, err := s.instance.running()
	if err != nil {
		return nil, err
	}
	counters := s.instance.design.product.Counters
	values, err := Status(ctx, control, slices.Sorted(maps.Keys(counters))...)
	if err != nil {
		return nil, s.instance.why(p, err)
	}
	var all []filewise.Counter
	for name, value := range values {
		if x, err := strconv.ParseFloat(value, 64); err == nil {
			all = append(all, filewise.Counter{Name: name, Unit: counters[name], Value: x})
		}
	}
	return all, nil
}

// CountersWith are the cumulative counters of InnoDB that both servers have, with
// their units, and a product's own. They say where writes went and what was
// waited for (“InnoDB Status Variables” of both manuals).
func CountersWith(own map[string]string) map[string]string {
	all := map[string]string{
		"Innodb_data_written":          "bytes",
		"Innodb_data_writes":           "writes",
		"Innodb_data_fsyncs":           "syncs",
		"Innodb_data_read":             "bytes",
		"Innodb_pages_written":         "pages",
		"Innodb_pages_created":         "pages",
		"Innodb_dblwr_pages_written":   "pages",
		"Innodb_os_log_written":        "bytes",
		"Innodb_os_log_fsyncs":         "syncs",
		"Innodb_log_writes":            "writes",
		"Innodb_log_write_requests":    "requests",
		"Innodb_log_waits":             "waits",
		"Innodb_buffer_pool_wait_free": "waits",
		"Innodb_buffer_pool_reads":     "pages",
		"Innodb_row_lock_waits":        "waits",
		"Innodb_row_lock_time":         "ms",
		"Innodb_rows_inserted":         "rows",
	}
	maps.Copy(all, own)
	return all
}
