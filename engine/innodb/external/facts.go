package external

import (
	"context"
	"strings"

	"filewise"
	"filewise/engine/innodb/dialect"
)

// telling are the settings, besides those that tell on any server, that are the owner's.
var telling = append(dialect.Telling[:len(dialect.Telling):len(dialect.Telling)], "innodb_buffer_pool_size", "innodb_log_file_size",
	"innodb_redo_log_capacity", "innodb_file_per_table", "general_log", "slow_query_log", "max_connections", "innodb_open_files",
	"table_open_cache", "hostname", "datadir")

// Facts are the server's settings as they were when it was opened, and those of
// Filewise's sessions. What this release does not have is absent.
func (s *server) Facts(context.Context) ([]filewise.Fact, error) {
	facts := []filewise.Fact{{Name: "server", Value: s.target.Address.String()}}
	for _, name := range telling {
		if v, ok := s.vars[name]; ok {
			facts = append(facts, filewise.Fact{Name: name, Value: v})
		}
	}
	facts = append(facts, filewise.Fact{Name: "sql_mode (of Filewise's sessions)", Value: dialect.SQLMode})
	return append(facts, filewise.Fact{Name: "settling", Value: s.settling()}), nil
}

// settling says how far a database is brought to rest.
func (s *server) settling() string {
	if s.flushes() {
		return "pages of Filewise's tables are written before and after measuring (FLUSH TABLES … FOR EXPORT); the server's checkpoints and " +
			"other pages are left to it"
	}
	return "left to the server's own page cleaner: the account has no right to FLUSH TABLES … FOR EXPORT"
}

// probes are what the server counts of a build, and of all that it does.
func (b *build) probes() []filewise.Probe {
	s := b.server
	all := dialect.Probes(b, s.product, b.name)
	if s.uninstrumented != nil {
		return all
	}
	read := &dialect.Instruments{Host: b, User: s.config.User, File: func(path string) (string, filewise.Role, bool) {
		name := b.plain(path)
		return name, filewise.RoleData, strings.Contains(path, "/"+b.name+"/") && !strings.HasSuffix(path, "/"+markTable+".ibd")
	}}
	return append(all, read.Probes()...)
}
