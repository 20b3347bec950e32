package dialect

import (
	"maps"
	"slices"
	"strings"

	"filewise"
)

// reserved lists settings that isolate a managed server, or that the layout and the workload decide, each with what to
// do instead.
var reserved = []struct {
	why   string
	names []string
}{
	{"it would take the server out of Filewise's scratch directory", []string{
		"datadir", "basedir", "tmpdir", "innodb-tmpdir", "slave-load-tmpdir", "replica-load-tmpdir", "chroot", "pid-file",
		"innodb-data-home-dir", "innodb-log-group-home-dir", "innodb-undo-directory", "innodb-temp-data-file-path",
		"innodb-doublewrite-dir", "innodb-buffer-pool-filename", "aria-log-dir-path", "secure-file-priv", "character-sets-dir",
		"lc-messages-dir", "language"}},
	{"Filewise decides how it is reached: by a Unix socket alone", []string{
		"socket", "port", "bind-address", "skip-networking", "networking", "extra-port", "named-pipe", "shared-memory", "admin-address",
		"admin-port",
		"mysqlx", "mysqlx-port", "mysqlx-socket", "mysqlx-bind-address", "report-host", "report-port", "require-secure-transport"}},
	{"logs go to Filewise's scratch directory, and only those that belong to the measurement are written", []string{
		"log-error", "log-basename", "general-log", "general-log-file", "log", "slow-query-log", "slow-query-log-file", "log-slow-query",
		"log-slow-query-file",
		"log-bin", "log-bin-index", "bin-log", "relay-log", "relay-log-index", "relay-log-info-file", "log-output", "log-tc", "log-isam",
		"master-info-file", "log-ddl-recovery"}},
	{"it loads code or executes files", []string{
		"plugin-dir", "plugin-load", "plugin-load-add", "early-plugin-load", "init-file", "init-connect", "init-slave", "init-replica",
		"bootstrap", "initialize", "initialize-insecure",
		"wsrep-provider", "wsrep-on", "wsrep-cluster-address", "ssl-ca", "ssl-cert", "ssl-key", "ssl-capath", "feedback", "feedback-url"}},
	{"Filewise decides who runs the server and who may log in", []string{
		"user", "daemonize", "console", "standalone", "stand-alone", "skip-grant-tables", "grant-tables", "memlock", "autoset-open-files-limit"}},
	{"the kind and the files of a layout decide it (--kind, --files, --size, --allocation, --growth)", []string{
		"innodb-data-file-path", "innodb-file-per-table", "innodb-autoextend-increment", "innodb-directories", "innodb-read-only", "read-only",
		"innodb-force-recovery",
		"innodb", "ignore-builtin-innodb", "default-storage-engine", "storage-engine", "enforce-storage-engine",
		"tc-heuristic-recover"}},
	{"--durability decides it", []string{
		"innodb-flush-log-at-trx-commit", "sync-binlog", "sql-log-bin", "binlog-format", "max-binlog-size", "expire-logs-days",
		"binlog-expire-logs-seconds",
		"max-binlog-total-size", "binlog-do-db", "binlog-ignore-db", "binlog-direct-non-transactional-updates", "encrypt-binlog",
		"log-slave-updates", "log-replica-updates"}},
	{"it would end the workload's calls in the middle", []string{"max-statement-time", "max-execution-time"}},
	{"a restart would no longer be cold", []string{"innodb-buffer-pool-dump-at-shutdown", "innodb-buffer-pool-load-at-startup",
		"innodb-buffer-pool-load-now", "innodb-buffer-pool-load-abort"}},
	{"Filewise writes the option files itself", []string{"defaults-file", "defaults-extra-file", "defaults-group-suffix", "no-defaults",
		"print-defaults", "help", "version", "verbose", "install", "remove"}},
}

// harmless lists SQL modes that decide which values are accepted, and not how a statement is read.
var harmless = []string{"STRICT_TRANS_TABLES", "STRICT_ALL_TABLES", "ERROR_FOR_DIVISION_BY_ZERO", "NO_ENGINE_SUBSTITUTION", "NO_ZERO_DATE",
	"NO_ZERO_IN_DATE", "ALLOW_INVALID_DATES", "NO_AUTO_VALUE_ON_ZERO", "PAD_CHAR_TO_FULL_LENGTH", "NO_AUTO_CREATE_USER"}

// Modes returns the modes in a value of sql_mode.
func Modes(value string) []string {
	return strings.FieldsFunc(strings.ToUpper(value), func(c rune) bool { return c == ',' || c == ' ' })
}

// Harmless reports whether a managed server may have a mode.
func Harmless(mode string) bool { return slices.Contains(harmless, mode) }

// CheckSettings refuses user settings that a managed server must not have. The error has CodeUsage and names the
// setting and the reason.
func CheckSettings(settings map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if err := checkSetting(name, settings[name]); err != nil {
			return err
		}
	}
	return nil
}

func checkSetting(name, value string) error {
	if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") != "" {
		return filewise.Errorf(filewise.CodeUsage, "write it as in --set innodb_io_capacity=2000",
			"--set: %q is not the name of a server setting", name)
	}
	if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return filewise.Errorf(filewise.CodeUsage, "give the value on one line", "--set %s: the value %q holds a control character", name, value)
	}
	switch strings.ReplaceAll(strings.ToLower(name), "-", "_") {
	case "lower_case_table_names":
		if value != "0" && value != "1" {
			return filewise.Errorf(filewise.CodeUsage, "give 0, or 1: names of tables are in small letters, however a statement spells them",
				"--set %s=%s is refused: on Linux it is 0 or 1", name, value)
		}
	case "sql_mode":
		if other := slices.DeleteFunc(Modes(value), Harmless); len(other) > 0 {
			return filewise.Errorf(filewise.CodeUsage, "leave it out, or give it without: in a set-up, SET SESSION sql_mode does it",
				"--set %s is refused with %s, which changes how Filewise's own statements are read", name, strings.Join(other, ", "))
		}
	}
	if why := reservedWhy(name); why != "" {
		return filewise.Errorf(filewise.CodeUsage, "leave it out", "--set %s is refused: %s", name, why)
	}
	return nil
}

// reservedWhy explains why a setting is reserved, or returns "" if it is not. Servers accept any unambiguous beginning
// of an option's name, and several prefixes before it.
func reservedWhy(name string) string {
	n := strings.ReplaceAll(strings.ToLower(name), "_", "-")
	for cut := true; cut; {
		cut = false
		for _, prefix := range []string{"loose-", "maximum-", "enable-", "disable-", "skip-"} {
			if rest, ok := strings.CutPrefix(n, prefix); ok && rest != "" {
				n, cut = rest, true
			}
		}
	}
	for _, group := range reserved {
		for _, r := range group.names {
			r = strings.TrimPrefix(r, "skip-")
			if n == r || len(n) >= 4 && strings.HasPrefix(r, n) && !knownShort[n] {
				return group.why
			}
		}
	}
	return ""
}

// knownShort lists settings whose names are also the beginning of a reserved setting's name.
var knownShort = map[string]bool{"innodb-doublewrite": true, "lc-messages": true}
