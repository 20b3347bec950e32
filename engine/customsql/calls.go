package customsql

import (
	"regexp"
	"slices"
	"strings"
)

// A function call can do more than its statement shows. It can occur anywhere: in a list of columns, a condition, a
// DEFAULT or the body of a routine.

// ofServerCalls matches functions that change or lock what all databases of a server share: its named locks,
// replication, keys and audit, cache, files, other hosts. A lock that PostgreSQL takes by number (pg_advisory_…)
// belongs to one database, and is dropped with it.
var ofServerCalls = regexp.MustCompile(`^(GET_LOCK|RELEASE_(ALL_)?LOCKS?|` +
	`(MASTER|SOURCE)_(POS|GTID)_WAIT|WAIT_(FOR_EXECUTED_GTID_SET|UNTIL_SQL_THREAD_AFTER_GTIDS)|` +
	`LOAD_FILE|SYS_(EXEC|EVAL|GET|SET)|LIB_MYSQLUDF\w*|` +
	`(KEYRING|AUDIT_LOG|GROUP_REPLICATION|ASYNCHRONOUS_CONNECTION_FAILOVER|MYSQL_FIREWALL)_\w+|` +
	`SERVICE_(GET|RELEASE)_\w+|VERSION_TOKENS_\w+|` +
	`PG_(NOTIFY|LOGICAL_\w+|PREWARM|EXPORT_SNAPSHOT|IMPORT_SYSTEM_COLLATIONS|EXECUTE_SERVER_PROGRAM|TRUNCATE_VISIBILITY_MAP|` +
	`\w+_RESET\w*|BUFFERCACHE_\w+|BACKEND_MEMORY\w*|SET_\w+|RESTORE_\w+|CLEAR_\w+)|AUTOPREWARM_\w+|PGSTATTUPLE_RESET|` +
	`POSTGRES_FDW_\w+|HTTP(_(GET|POST|PUT|PATCH|DELETE|HEAD))?|QUERY_EXPORT_TO_S3|TABLE_IMPORT_FROM_S3|SHELL_\w+)$`)

// ofServerSchemas lists schemas of extensions with which a database makes a server or other hosts do something.
var ofServerSchemas = []string{"CRON", "NET", "AWS_S3", "AWS_LAMBDA", "PGAGENT", "PGLOGICAL"}

// calls returns the first call in a statement that reaches beyond the build's database, and what to do instead; "" if
// there is none. If names can be qualified with a database, a qualified call is another database's.
func calls(words []Word, qualified bool) (what, remedy string) {
	at := func(i int) Word {
		if i < 0 || i >= len(words) {
			return Word{}
		}
		return words[i]
	}
	const leave, here = "leave it out", "name it without a database"
	for i, w := range words {
		name, called := plainName(w), at(i+1).Is("(")
		switch {
		case called && ofServerCalls.MatchString(name):
			return "calling " + name, leave
		case called && at(i-1).Is(".") && slices.Contains(ofServerSchemas, plainName(at(i-2))):
			return "calling " + plainName(at(i-2)) + "." + name, leave
		case !qualified:
		case w.Is("FOR") && at(i-1).Is("VALUE") && at(i-2).Is("NEXT") && named(at, i+1):
			return "NEXT VALUE FOR a sequence of a named database", here
		case (name == "NEXTVAL" || name == "SETVAL") && (called && named(at, i+2) || at(i-1).Is(".") && at(i-3).Is(".")):
			return name + " of a sequence of a named database", here
		case called && at(i-1).Is(".") && !at(i-3).Is("INTO", "TABLE", "REFERENCES", "EXISTS", "VIEW", "INSERT", "REPLACE", "IGNORE", "."):
			if at(0).Is("CREATE") && at(i-3).Is("ON") { // an index of a table
				continue
			}
			return "calling a function of a named database", here
		}
	}
	return "", ""
}

// plainName returns a name in capitals, quoted or not, or "" if the word is a text or no name.
func plainName(w Word) string {
	if !w.Quoted {
		return w.Text
	}
	if c := w.Text[0]; c == '`' || c == '"' || c == '[' {
		return strings.ToUpper(strings.Trim(w.Text, "`\"[]"))
	}
	return ""
}
