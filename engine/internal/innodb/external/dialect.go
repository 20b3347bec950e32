package external

import (
	"maps"
	"strings"

	"filewise"
)

// Dialect is what differs between servers of MySQL and of MariaDB.
type Dialect struct {
	Name    string // of the engine
	Product string
	Schemes []string
	Port    int
	Oldest  [2]int // release that Filewise knows
	// Session are the variables that every connection sets, as SQL expressions.
	Session map[string]string
	// Comments: a database has a comment, so that it is marked as it is created;
	// without, a table carries the mark.
	Comments bool
	// Infix stands between table and partition in the name of a file.
	Infix string
	// EmptyPages is the size of an empty table's file in pages.
	EmptyPages int64
	// Tablespaces is the query for path, size and allocated size of a database's
	// files, by a pattern of their names; it needs the right PROCESS.
	Tablespaces string
	// FlushRight is what FLUSH TABLES … FOR EXPORT needs besides LOCK TABLES.
	FlushRight string
	// Checkpoint names the status variables of the log's end and of the last
	// checkpoint, and the setting at 0 of which an idle server writes nothing.
	LogEnd, Checkpoint, IdleSetting string
	// Directories: the directories of tables are limited by innodb_directories, and
	// need the right FILE.
	Directories bool
}

// session are the variables of both, against whatever the server's defaults are.
func session(more map[string]string) map[string]string {
	all := map[string]string{
		"sql_mode":                 "'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'",
		"autocommit":               "1",
		"completion_type":          "'NO_CHAIN'",
		"sql_safe_updates":         "0",
		"sql_auto_is_null":         "0",
		"sql_select_limit":         "18446744073709551615",
		"unique_checks":            "1",
		"wait_timeout":             "28800", // s
		"lock_wait_timeout":        "60",    // s
		"innodb_lock_wait_timeout": "50",    // s
	}
	for name, value := range more {
		all[name] = value
	}
	return all
}

// sessionOf are the session variables by the names of a release: MariaDB 11.1
// took MySQL's for two of them.
func (d *Dialect) sessionOf(release [2]int) map[string]string {
	all := maps.Clone(d.Session)
	if d == MariaDB && (release[0] > 11 || release[0] == 11 && release[1] >= 1) {
		for _, name := range []string{"isolation", "read_only"} {
			all["transaction_"+name] = all["tx_"+name]
			delete(all, "tx_"+name)
		}
	}
	return all
}

// MariaDB is the dialect of MariaDB.
var MariaDB = &Dialect{
	Name: "mariadb", Product: "MariaDB", Schemes: []string{"mariadb"}, Port: 3306, Oldest: [2]int{10, 6},
	Session: session(map[string]string{
		"tx_isolation": "'REPEATABLE-READ'", "tx_read_only": "0", "max_statement_time": "0", "innodb_strict_mode": "1",
		"idle_transaction_timeout": "0", "idle_write_transaction_timeout": "0",
	}),
	Comments: true, Infix: "#P#", EmptyPages: 4,
	Tablespaces: "SELECT FILENAME, FILE_SIZE, ALLOCATED_SIZE FROM information_schema.INNODB_SYS_TABLESPACES WHERE NAME LIKE ?",
	FlushRight:  "RELOAD",
	LogEnd:      "Innodb_lsn_current", Checkpoint: "Innodb_lsn_last_checkpoint", IdleSetting: "innodb_max_dirty_pages_pct_lwm",
}

// MySQL is the dialect of MySQL.
var MySQL = &Dialect{
	Name: "mysql", Product: "MySQL", Schemes: []string{"mysql"}, Port: 3306, Oldest: [2]int{8, 0},
	Session: session(map[string]string{
		"transaction_isolation": "'REPEATABLE-READ'", "transaction_read_only": "0", "max_execution_time": "0",
		"information_schema_stats_expiry": "0",
	}),
	Infix: "#p#", EmptyPages: 7, // 4, and the dictionary's own copy of the table
	Tablespaces: "SELECT d.PATH, t.FILE_SIZE, t.ALLOCATED_SIZE FROM information_schema.INNODB_TABLESPACES t JOIN information_schema.INNODB_DATAFILES d " +
		"ON d.SPACE = t.SPACE WHERE t.NAME LIKE ?",
	FlushRight: "FLUSH_TABLES",
	LogEnd:     "Innodb_redo_log_current_lsn", Checkpoint: "Innodb_redo_log_checkpoint_lsn",
	Directories: true,
}

// Kinds are the kinds of layout on an external server, the usual one first.
var Kinds = []filewise.Kind{filewise.KindPartitions, filewise.KindPerTable}

// ours is the pattern of Filewise's databases in a GRANT: a plain “_” would stand
// for any character.
const ours = "`filewise\\_%`.*"

// needed are the rights on Filewise's own databases; useful those that let it
// settle them.
var needed = []string{"CREATE", "DROP", "ALTER", "INDEX", "SELECT", "INSERT", "UPDATE", "DELETE", "CREATE ROUTINE", "ALTER ROUTINE", "EXECUTE"}

const lockTables = "LOCK TABLES"

// seeing are the rights without which the server hides events and triggers.
var seeing = []string{"EVENT", "TRIGGER"}

// Rights are the statements that give an account what Filewise needs, and no
// more.
func (d *Dialect) Rights() []string {
	return []string{
		grant(append(needed[:len(needed):len(needed)], lockTables), ours),
		grant([]string{"PROCESS"}, "*.*"),
		grant([]string{d.FlushRight}, "*.*"),
		grant(seeing, ours) + " -- optional: to see events and triggers that others have put into a database of Filewise's, which then stays",
	}
}

// account stands for the user's where it is not known yet.
const account = "`filewise`@`%`"

// grant is the statement for an account that is still to be made.
func grant(rights []string, on string) string { return grantTo(account, rights, on) }

func grantTo(account string, rights []string, on string) string {
	return "GRANT " + strings.Join(rights, ", ") + " ON " + on + " TO " + account
}

// pattern matches the files of a database, for LIKE.
func pattern(database string) string { return escapeLike(database) + "/%" }
