package managed

import (
	"path/filepath"
	"slices"
	"strings"

	"filewise"
	"filewise/engine/innodb/dialect"
	"filewise/engine/internal/server"
)

// instruments makes performance_schema count only the I/O of files and the latch of InnoDB's tablespaces. Everything
// else that would take memory is turned off: MariaDB then takes 20 MiB for it instead of 100.
var instruments = []filewise.Fact{
	{Name: "performance_schema", Value: "ON"},
	// Each by name: on MySQL, “%” would turn off threads, and with them all that they do.
	{Name: "performance-schema-instrument", Value: "wait/%=OFF"},
	{Name: "performance-schema-instrument", Value: "stage/%=OFF"},
	{Name: "performance-schema-instrument", Value: "statement/%=OFF"},
	{Name: "performance-schema-instrument", Value: "memory/%=OFF"},
	{Name: "performance-schema-instrument", Value: "transaction=OFF"},
	{Name: "performance-schema-instrument", Value: "idle=OFF"},
	{Name: "performance-schema-instrument", Value: "wait/io/file/innodb/%=ON"},
	{Name: "performance-schema-instrument", Value: "wait/io/file/sql/binlog=ON"},
	{Name: "performance-schema-instrument", Value: "wait/synch/%/innodb/fil_space_latch=ON"},
	{Name: "performance-schema-consumer-statements-digest", Value: "OFF"},
	{Name: "performance_schema_digests_size", Value: "0"},
	{Name: "performance_schema_max_digest_length", Value: "0"},
	{Name: "performance_schema_max_statement_classes", Value: "0"},
	{Name: "performance_schema_max_stage_classes", Value: "0"},
	{Name: "performance_schema_max_memory_classes", Value: "0"},
	{Name: "performance_schema_events_statements_history_size", Value: "0"},
	{Name: "performance_schema_events_statements_history_long_size", Value: "0"},
	{Name: "performance_schema_events_stages_history_size", Value: "0"},
	{Name: "performance_schema_events_stages_history_long_size", Value: "0"},
	{Name: "performance_schema_events_transactions_history_size", Value: "0"},
	{Name: "performance_schema_events_transactions_history_long_size", Value: "0"},
	{Name: "performance_schema_events_waits_history_size", Value: "0"},
	{Name: "performance_schema_events_waits_history_long_size", Value: "0"},
	{Name: "performance_schema_max_table_instances", Value: "0"},
	{Name: "performance_schema_max_table_handles", Value: "0"},
	{Name: "performance_schema_max_metadata_locks", Value: "0"},
	{Name: "performance_schema_max_prepared_statements_instances", Value: "0"},
	{Name: "performance_schema_max_program_instances", Value: "0"},
	{Name: "performance_schema_session_connect_attrs_size", Value: "0"},
}

const noInstruments = "performance_schema, which alone counts I/O by file, is turned off by --set performance_schema"

// instrumented reports whether the user's settings leave the instruments on.
func instrumented(t filewise.Target) bool {
	value, set := setting(t, "performance_schema")
	return !set || value == "1" || strings.EqualFold(value, "on") || strings.EqualFold(value, "true")
}

// probes returns the probes of what the server counts for a build.
func (i *instance) probes() []filewise.Probe {
	all := append(dialect.Probes(i, i.design.Product, Database), server.Tree(i.life.Process))
	if !instrumented(i.design.Target) {
		return all
	}
	d := i.design
	read := &dialect.Instruments{Host: i, User: account, File: d.fileOf(), Redo: filepath.Join(d.dataDir(), d.Product.Files.Redo)}
	return append(all, read.Probes()...)
}

// fileOf returns a function that finds a build's files by the server's paths, in which links of directories are
// resolved. It does not find the dictionary's files, nor the redo log's, whose counters come from InnoDB.
func (d *design) fileOf() func(path string) (string, filewise.Role, bool) {
	real := make(map[string]string, len(d.dirs))
	for _, dir := range d.dirs {
		real[dir] = dir
		if r, err := filepath.EvalSymlinks(dir); err == nil {
			real[dir] = r
		}
	}
	return func(path string) (string, filewise.Role, bool) {
		for dir, r := range real {
			if rest, ok := strings.CutPrefix(path, r+"/"); ok {
				name := filepath.Join(dir, rest)
				role, ok := d.roleOf(name)
				return name, role, ok
			}
		}
		return "", "", false
	}
}

func (d *design) roleOf(path string) (filewise.Role, bool) {
	if slices.ContainsFunc(d.All(), func(f dialect.File) bool { return f.Path == path }) {
		return filewise.RoleData, true
	}
	if d.binlog() && filepath.Dir(path) == d.binlogDir() {
		return filewise.RoleLog, true
	}
	rest, ok := strings.CutPrefix(path, d.dataDir()+"/")
	switch dir, base := filepath.Split(rest); {
	case !ok:
		return "", false
	case strings.HasPrefix(rest, "#innodb_temp") || strings.HasPrefix(rest, "ibtmp"):
		return filewise.RoleSystem, true // temporary tables
	case dir == "" && !strings.HasPrefix(base, "ib_logfile") && base != "mysql.ibd", dir == Database+"/":
		return filewise.RoleSystem, true
	}
	return "", false // the dictionary, the redo log
}
