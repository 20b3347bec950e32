package oracle

import (
	"context"

	"filewise"
)

// tellingParameters lists the parameters that affect what is measured (Oracle Database Reference).
var tellingParameters = []string{
	"cluster_database", "commit_logging", "commit_wait", "compatible", "cpu_count", "cursor_sharing", "db_block_checking", "db_block_checksum",
	"db_block_size", "db_cache_size", "db_create_file_dest", "db_files", "db_lost_write_protect", "db_writer_processes",
	"dbwr_io_slaves", "disk_asynch_io", "fast_start_mttr_target", "filesystemio_options", "log_buffer",
	"log_checkpoint_timeout", "memory_target", "pga_aggregate_target", "plsql_code_type", "plsql_optimize_level", "processes",
	"resource_limit", "resource_manager_plan",
	"sga_target", "standby_file_management", "undo_retention",
}

// Facts returns version, container and the settings that affect what is measured. What the account cannot read is
// absent.
func (s *server) Facts(ctx context.Context) ([]filewise.Fact, error) { return s.facts(ctx, s.control) }

func (s *server) facts(ctx context.Context, c client) ([]filewise.Fact, error) {
	all := []filewise.Fact{{Name: "version", Value: "Oracle " + s.about.version}}
	add := func(name, value string) {
		if value != "" {
			all = append(all, filewise.Fact{Name: name, Value: value})
		}
	}
	add("full version", s.about.full)
	add("product", s.about.product)
	add("proven", Engine{}.Describe().Unproven)
	add("account", s.about.account)
	add("service", s.about.service)
	add("pluggable database", s.about.container)
	add("server's host", s.about.host)
	for _, part := range []struct {
		view, section string
		names         []string
	}{
		{"V_$INSTANCE", "instance", []string{"instance", "", "", "RAC", "edition"}},
		{"V_$DATABASE", "database", []string{"database", "platform", "log mode", "force logging", "container database", "open mode", "role",
			"flashback"}},
		{"V_$LOG", "redo", []string{"redo log groups", "smallest redo log", "largest redo log"}},
	} {
		if s.missing[part.view] {
			add(part.section, "not readable without "+part.view)
			continue
		}
		found, err := rows(ctx, c, len(part.names), part.section, nil)
		if err != nil {
			return nil, err
		}
		for i, name := range part.names {
			if name != "" && len(found) == 1 {
				add(name, text(found[0][i]))
			}
		}
	}
	if s.slowFree.Load() {
		add("use of files", "not asked for: DBA_FREE_SPACE takes longer than "+freePatience.String())
	}
	if s.missing["V_$PARAMETER"] {
		add("parameters", "not readable without V_$PARAMETER")
		return all, nil
	}
	values, err := parameters(ctx, c)
	if err != nil {
		return nil, err
	}
	for _, name := range tellingParameters {
		add(name, values[name])
	}
	return all, nil
}

// parameters reads the instance's parameters.
func parameters(ctx context.Context, c client) (map[string]string, error) {
	found, err := rows(ctx, c, 2, "parameters", vars{"Names": tellingParameters})
	values := map[string]string{}
	for _, r := range found {
		values[text(r[0])] = text(r[1])
	}
	return values, err
}
