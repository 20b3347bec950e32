package probes

import (
	"context"
	"encoding/json"
	"slices"

	"filewise"
	"filewise/engine/internal/sampling"
	"filewise/engine/postgres/client"
	"filewise/engine/postgres/dialect"
)

// Server holds what a build's probes need to read its server.
type Server struct {
	Link    *client.Link // to the build's database
	Version int          // server_version_num
	Sees    bool         // the account may see the waits of the server's own processes
	// PathOf returns the path of a relation in a tablespace and file as the server names them, or "" if unknown. Observe
	// reports the same path.
	PathOf func(space, file string) string
	// LogPath is the WAL's path as Observe reports it, or "" if unknown.
	LogPath string
}

// Of returns the probes that the server's release supports. done closes the connection that samples waits.
func Of(s Server) (all []filewise.Probe, done func()) {
	w := &watcher{link: s.Link}
	waits := sampling.New(w.look)
	all = []filewise.Probe{filewise.ProbeOf("postgres", s.status), filewise.ProbeOf(filewise.ProbeFiles, s.files),
		filewise.ProbeOf(filewise.ProbeWritten, s.written), filewise.ProbeOf(filewise.ProbeCheckpoints, s.checkpoints), waits}
	if s.Sees {
		all = append(all, waits.Background())
	}
	if s.Version >= versionIO {
		all = append(all, filewise.ProbeOf("postgres io", s.io))
	}
	return all, w.close
}

// counters lists cumulative counters by view and column. They show where writes went and what they waited for
// (PostgreSQL's documentation, 28.2 “The Cumulative Statistics System”). A release has some of the views, and some
// columns of each.
var counters = map[string]map[string]string{
	"pg_stat_wal": {"wal_records": "records", "wal_fpi": "pages", "wal_bytes": "bytes", "wal_buffers_full": "times",
		"wal_write": "writes", "wal_sync": "syncs", "wal_write_time": "ms", "wal_sync_time": "ms"},
	"pg_stat_bgwriter": {"checkpoints_timed": "checkpoints", "checkpoints_req": "checkpoints", "checkpoint_write_time": "ms",
		"checkpoint_sync_time": "ms", "buffers_checkpoint": "pages", "buffers_clean": "pages", "maxwritten_clean": "times",
		"buffers_backend": "pages", "buffers_backend_fsync": "syncs", "buffers_alloc": "pages"},
	"pg_stat_checkpointer": {"num_timed": "checkpoints", "num_requested": "checkpoints", "num_done": "checkpoints", "write_time": "ms",
		"sync_time": "ms", "buffers_written": "pages"},
	"pg_stat_database": {"xact_commit": "commits", "blks_read": "pages", "blks_hit": "pages", "blk_read_time": "ms",
		"blk_write_time": "ms", "tup_inserted": "rows", "temp_files": "files", "temp_bytes": "bytes", "deadlocks": "deadlocks"},
}

// status returns those cumulative counters that this release has.
func (s Server) status(ctx context.Context) ([]filewise.Counter, error) {
	const views = "SELECT relname::text FROM pg_class WHERE relnamespace = 'pg_catalog'::regnamespace AND relname = " +
		"ANY(string_to_array($1, ',')) ORDER BY 1"
	names, err := s.Link.Texts(ctx, views, "pg_stat_bgwriter,pg_stat_checkpointer,pg_stat_database,pg_stat_wal")
	if err != nil {
		return nil, err
	}
	var all []filewise.Counter
	for _, view := range names {
		where := ""
		if view == "pg_stat_database" {
			where = " WHERE datname = current_database()"
		}
		values, err := ReadView(ctx, s.Link, view, where)
		if err != nil {
			return nil, err
		}
		all = append(all, countersOf(view, values)...)
	}
	return all, nil
}

// timing maps views to the setting without which their times are zero, because nothing is timed.
var timing = map[string]string{"pg_stat_wal": "track_wal_io_timing", "pg_stat_database": "track_io_timing"}

// ReadView reads the only row of a view, by column. Column “timed” reports whether the view's times are measured.
func ReadView(ctx context.Context, l *client.Link, view, where string) (map[string]any, error) {
	timed := "'on'"
	if setting := timing[view]; setting != "" {
		timed = "coalesce(current_setting(" + dialect.Literal(setting) + ", true), 'off')"
	}
	var line, on string
	if err := l.Scan(ctx, "SELECT to_json(v)::text, "+timed+" FROM pg_catalog."+dialect.Ident(view)+" v"+where, nil, &line, &on); err != nil {
		return nil, err
	}
	values := map[string]any{}
	if err := json.Unmarshal([]byte(line), &values); err != nil {
		return nil, err
	}
	values["timed"] = on
	return values, nil
}

func countersOf(view string, values map[string]any) []filewise.Counter {
	var all []filewise.Counter
	for name, unit := range counters[view] {
		if x, ok := values[name].(float64); ok && (unit != "ms" || values["timed"] == "on") {
			all = append(all, filewise.Counter{Name: view + "." + name, Unit: unit, Value: x})
		}
	}
	slices.SortFunc(all, func(a, b filewise.Counter) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return all
}
