package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/jackc/pgx/v5"

	"filewise"
	"filewise/engine/internal/server"
	"filewise/engine/postgres/client"
	"filewise/engine/postgres/installed"
)

// telling lists the settings that affect what is measured. The settings that the user gave are added to them.
var telling = []string{
	"server_version", "fsync", "synchronous_commit", "full_page_writes", "wal_level", "wal_sync_method", "wal_compression", "wal_buffers",
	"commit_delay", "checkpoint_timeout", "checkpoint_completion_target", "bgwriter_lru_maxpages", "io_method", "io_workers",
	"effective_io_concurrency",
	"autovacuum", "data_checksums", "block_size", "segment_size", "wal_segment_size", "huge_pages", "default_transaction_isolation",
	"synchronous_standby_names", "jit", "track_io_timing", "track_wal_io_timing", "max_parallel_workers_per_gather",
}

// settingsOf reads the server's effective settings. A setting that this release lacks or does not show to this account
// is absent.
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
	names := telling
	for name := range i.design.target.Settings {
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
	all := server.Settings{Telling: telling, Values: values, Scaled: append(scaled[:len(scaled):len(scaled)], ofOrders),
		User: i.design.target.Settings, Canonical: strings.ToLower}
	return append([]filewise.Fact{{Name: "server", Value: fmt.Sprintf("managed, started by Filewise from %s%s", i.install.Path(), as)}},
		all.Facts()...), nil
}

// ofOrders is the setting that only sessions of workload orders have.
var ofOrders = filewise.Fact{Name: planCache,
	Value: fmt.Sprintf("%s in orders of at most %d warehouses and %d connections, else the server's own", keptPlans, mostPartitions,
		mostKeeping)}

// scaled lists the settings that follow a layout's size. The numbers are in each layout's configuration, in its script.
var scaled = []filewise.Fact{
	{Name: "max_wal_size", Value: fmt.Sprintf("1/%d of --size, %s to %s", walPart, humanize.IBytes(leastWAL), humanize.IBytes(mostWAL))},
	{Name: "shared_buffers", Value: fmt.Sprintf("1/%d of --size, %s to %s", poolPart, humanize.IBytes(leastPool), humanize.IBytes(mostPool))},
}

// about describes an external server and the account on it.
type about struct {
	version                              int
	banner, user, database, dataDir      string
	super, createdb, monitor, checkpoint bool
	standby, readOnly, pooled, local     bool
}

// lookAround reads the properties of the server and the account. If the process ID of the session differs from the one
// that the driver was given, a pooler stands between.
func lookAround(ctx context.Context, l *client.Link) (a about, err error) {
	var pid, told int32
	err = l.With(ctx, func(conn *pgx.Conn) error {
		told = int32(conn.PgConn().PID())
		err := conn.QueryRow(ctx, queries.Text("about")).Scan(&a.version, &a.banner, &a.user, &a.database, &a.dataDir, &a.super, &a.createdb,
			&a.monitor,
			&a.checkpoint, &a.standby, &a.readOnly, &pid, &a.local)
		return l.Done(ctx, queries.Text("about"), err)
	})
	a.pooled = pid != told
	return a, err
}

// fit refuses a server on which nothing can be measured.
func (a about) fit() error {
	switch {
	case a.pooled:
		return filewise.Errorf(filewise.CodePreflight, "connect to PostgreSQL itself, not through the pooler",
			"a connection pooler stands before the server: its sessions are not the server's, so that they cannot be prepared, interrupted or "+
				"distinguished from others'")
	case a.version < installed.Oldest:
		return filewise.Errorf(filewise.CodePreflight, "use a newer server", "the server is %s; Filewise supports PostgreSQL %d and later",
			a.banner, installed.Oldest/10000)
	case a.standby:
		return filewise.Errorf(filewise.CodePreflight, "name the primary server (target_session_attrs=primary)",
			"the server is a standby, which only reads")
	case a.readOnly:
		return filewise.Errorf(filewise.CodePreflight, "name a server that takes writes",
			"the server's transactions only read (default_transaction_read_only cannot be turned off)")
	}
	return nil
}
