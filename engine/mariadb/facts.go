package mariadb

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/dustin/go-humanize"

	"filewise"
)

// tellingVariables are the settings that decide what is measured; those that the
// user set are added.
var tellingVariables = []string{
	"version", "version_comment",
	"innodb_flush_log_at_trx_commit", "innodb_flush_method", "innodb_doublewrite", "innodb_page_size", "innodb_checksum_algorithm",
	"innodb_io_capacity", "innodb_io_capacity_max", "innodb_max_dirty_pages_pct", "innodb_max_dirty_pages_pct_lwm", "innodb_adaptive_flushing",
	"innodb_flush_neighbors", "innodb_read_io_threads", "innodb_write_io_threads", "innodb_use_native_aio", "innodb_log_buffer_size",
	"innodb_log_file_buffering", "innodb_undo_tablespaces", "innodb_change_buffering", "innodb_adaptive_hash_index",
	"performance_schema", "log_bin", "sync_binlog", "binlog_format", "transaction_isolation", "tx_isolation", "thread_handling",
}

// readFacts asks the server for its effective settings. What this release does
// not have is absent.
func (i *instance) readFacts(ctx context.Context) ([]filewise.Fact, error) {
	p, control, err := i.running()
	if err != nil {
		return nil, err
	}
	rows, err := control.QueryContext(ctx, "SHOW GLOBAL VARIABLES")
	if err != nil {
		return nil, i.why(p, err)
	}
	defer rows.Close()
	values := map[string]string{}
	for rows.Next() {
		var name, value string
		if err := rows.Scan(&name, &value); err != nil {
			return nil, err
		}
		values[name] = value
	}
	if err := rows.Err(); err != nil {
		return nil, i.why(p, err)
	}
	return i.tell(values), nil
}

func (i *instance) tell(values map[string]string) []filewise.Fact {
	facts := []filewise.Fact{{Name: "server", Value: fmt.Sprintf("private, started by Filewise from %s", i.install.binary)}}
	if i.design.binlog() {
		facts = append(facts, filewise.Fact{Name: "durability full", Value: "with a binary log that is synced at each commit, as on a server that replicates: " +
			"without one, MariaDB lets the commits inside a CALL wait for the storage together, at its end"})
	}
	set := map[string]bool{}
	for name := range i.design.target.Settings {
		set[canonical(name)] = true
	}
	for _, name := range tellingVariables {
		if v, ok := values[name]; ok && !set[name] {
			facts = append(facts, filewise.Fact{Name: name, Value: v})
		}
	}
	for _, f := range scaled {
		if !set[f.Name] {
			facts = append(facts, f)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(i.design.target.Settings)) {
		effective, ok := values[canonical(name)]
		if !ok {
			effective = i.design.target.Settings[name]
		}
		facts = append(facts, filewise.Fact{Name: name + " (--set)", Value: effective})
	}
	return facts
}

// scaled are the settings that follow a layout's size; the option file of each
// layout, in its script, has the figures.
var scaled = []filewise.Fact{
	{Name: "innodb_log_file_size", Value: fmt.Sprintf("1/4 of --size, %s to %s", humanize.IBytes(leastRedo), humanize.IBytes(mostRedo))},
	{Name: "innodb_buffer_pool_size", Value: fmt.Sprintf("1/4 of --size, %s to %s", humanize.IBytes(leastPool), humanize.IBytes(mostPool))},
}
