package postgres

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/engine/postgres/internal/client"
)

// telling are the settings that decide what is measured; those that the user set
// are added.
var telling = []string{
	"server_version", "fsync", "synchronous_commit", "full_page_writes", "wal_level", "wal_sync_method", "wal_compression", "wal_buffers",
	"commit_delay", "checkpoint_timeout", "checkpoint_completion_target", "bgwriter_lru_maxpages", "io_method", "io_workers",
	"effective_io_concurrency",
	"autovacuum", "data_checksums", "block_size", "segment_size", "wal_segment_size", "huge_pages", "default_transaction_isolation",
	"synchronous_standby_names", "jit", "track_io_timing", "track_wal_io_timing", "max_parallel_workers_per_gather",
}

// settingsOf asks the server for its effective settings. What this release does
// not have, or does not tell this account, is absent.
func settingsOf(ctx context.Context, l *client.Link, names ...string) (map[string]string, error) {
	rows, err := l.Rows(ctx, "SELECT name::text, current_setting(name, true) FROM pg_settings WHERE name = ANY(string_to_array($1, ','))",
		strings.Join(names, ","))
	if err != nil {
		return nil, err
	}
	values := map[string]string{}
	for _, row := range rows {
		values[client.Text(row[0])] = client.Text(row[1])
	}
	return values, nil
}

func (i *instance) readFacts(ctx context.Context) ([]filewise.Fact, error) {
	set := map[string]bool{}
	names := telling
	for name := range i.design.target.Settings {
		set[strings.ToLower(name)] = true
		names = append(names[:len(names):len(names)], strings.ToLower(name))
	}
	values, err := settingsOf(ctx, i.link, names...)
	if err != nil {
		return nil, err
	}
	as := ""
	if i.account.As != nil {
		as = ", as user " + i.account.Name
	}
	facts := []filewise.Fact{{Name: "server", Value: fmt.Sprintf("managed, started by Filewise from %s%s", i.install.Path(), as)}}
	for _, name := range telling {
		if v, ok := values[name]; ok && !set[name] {
			facts = append(facts, filewise.Fact{Name: name, Value: v})
		}
	}
	for _, f := range append(scaled[:len(scaled):len(scaled)], ofOrders) {
		if !set[f.Name] {
			facts = append(facts, f)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(i.design.target.Settings)) {
		effective, ok := values[strings.ToLower(name)]
		if !ok {
			effective = i.design.target.Settings[name]
		}
		facts = append(facts, filewise.Fact{Name: name + " (--set)", Value: effective})
	}
	return facts, nil
}

// ofOrders is the setting that sessions of one workload have.
var ofOrders = filewise.Fact{Name: planCache,
	Value: fmt.Sprintf("%s in orders of at most %d warehouses and %d connections, else the server's own", keptPlans, mostPartitions,
		mostKeeping)}

// scaled are the settings that follow a layout's size; the configuration of each
// layout, in its script, has the figures.
var scaled = []filewise.Fact{
	{Name: "max_wal_size", Value: fmt.Sprintf("1/2 of --size, %s to %s", humanize.IBytes(leastWAL), humanize.IBytes(mostWAL))},
	{Name: "shared_buffers", Value: fmt.Sprintf("1/4 of --size, %s to %s", humanize.IBytes(leastPool), humanize.IBytes(mostPool))},
}
