package external

import (
	"context"
	"strings"

	"filewise"
	"filewise/engine/internal/innodb"
)

// telling are the settings that decide what is measured.
var telling = []string{
	"version_comment", "innodb_flush_log_at_trx_commit", "sync_binlog", "log_bin", "binlog_format", "innodb_flush_method", "innodb_doublewrite",
	"innodb_page_size", "innodb_buffer_pool_size", "innodb_log_file_size", "innodb_redo_log_capacity", "innodb_log_buffer_size",
	"innodb_io_capacity", "innodb_io_capacity_max", "innodb_max_dirty_pages_pct", "innodb_max_dirty_pages_pct_lwm", "innodb_adaptive_flushing",
	"innodb_flush_neighbors", "innodb_read_io_threads", "innodb_write_io_threads", "innodb_use_native_aio", "innodb_file_per_table",
	"innodb_checksum_algorithm", "innodb_adaptive_hash_index", "innodb_change_buffering", "performance_schema", "general_log", "slow_query_log",
	"max_connections", "thread_handling", "innodb_open_files", "table_open_cache", "hostname", "datadir",
}

// Facts are the server's settings as they were when it was opened, and those of
// Filewise's sessions. What this release does not have is absent.
func (s *server) Facts(context.Context) ([]filewise.Fact, error) {
	facts := []filewise.Fact{{Name: "server", Value: s.target.Address.String()}, {Name: "version", Value: s.version}}
	for _, name := range telling {
		if v, ok := s.vars[name]; ok {
			facts = append(facts, filewise.Fact{Name: name, Value: v})
		}
	}
	facts = append(facts, filewise.Fact{Name: "sql_mode (of Filewise's sessions)", Value: s.dialect.Session["sql_mode"]})
	return append(facts, filewise.Fact{Name: "settling", Value: s.settling()}), nil
}

// settling says how far a database is brought to rest.
func (s *server) settling() string {
	if s.flushes() {
		return "pages of Filewise's tables are written before and after measuring (FLUSH TABLES … FOR EXPORT); the server's checkpoints and other pages are left to it"
	}
	return "left to the server's own page cleaner: the account has no right to FLUSH TABLES … FOR EXPORT"
}

// probes are what the server counts of a build, and of all that it does.
func (b *build) probes() []filewise.Probe {
	s := b.server
	all := []filewise.Probe{statusProbe{s}, innodb.NewWaits(b, b.name), innodb.StatusWaits(b), innodb.Checkpoints(b)}
	if s.uninstrumented != nil {
		return all
	}
	read := &innodb.Instruments{Host: b, User: s.config.User, File: func(path string) (string, filewise.Role, bool) {
		name := b.plain(path)
		return name, filewise.RoleData, strings.Contains(path, "/"+b.name+"/") && !strings.HasSuffix(path, "/"+markTable+".ibd")
	}}
	return append(all, read.Probes()...)
}

// statusProbe reads the server's cumulative counters, which count others' work
// too.
type statusProbe struct{ server *server }

// Name is the probe's name in the report.
func (p statusProbe) Name() string { return p.server.dialect.Name }

// Read returns the counters that this release has.
func (p statusProbe) Read(ctx context.Context) ([]filewise.Counter, error) {
	all, err := innodb.ReadCounters(ctx, p.server.db)
	return all, p.server.explain(err)
}
