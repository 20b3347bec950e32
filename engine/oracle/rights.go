package oracle

import (
	"slices"
	"strings"

	"filewise"
)

// privilege is a system privilege that Filewise needs, and what for.
type privilege struct{ Name, For string }

// privileges are the system privileges. The three on tablespaces are powerful:
// they hold for every tablespace of the database; see the package's comment.
var privileges = []privilege{
	{"CREATE SESSION", "to log on"},
	{"CREATE TABLE", "for the workload's tables, in the account's own schema"},
	{"CREATE PROCEDURE", "for the workload's loop, which runs on the server"},
	{"CREATE TABLESPACE", "for the layouts"},
	{"ALTER TABLESPACE", "to add datafiles, and to write changed blocks before and after measuring"},
	{"DROP TABLESPACE", "to remove the layouts"},
	{"UNLIMITED TABLESPACE", "for space in tablespaces that do not exist yet, for which no quota can be given"},
}

// customPrivileges are what a set-up needs besides, by the kinds of what it creates.
var customPrivileges = []struct{ kind, Name string }{{"VIEW", "CREATE VIEW"}, {"SEQUENCE", "CREATE SEQUENCE"}}

// view is a view of the dictionary that Filewise reads.
type view struct {
	Name     string // as it is granted: SYS.V_$SESSION
	Optional string // what is missing without it; empty: nothing works without it
}

var views = []view{
	{"DBA_TABLESPACES", ""},
	{"DBA_DATA_FILES", ""},
	{"DBA_SEGMENTS", ""},
	{"DBA_TABLES", ""},
	{"V_$SESSION", ""},
	{"V_$PARAMETER", ""},
	{"DBA_FREE_SPACE", "how much of each file is used"},
	{"V_$INSTANCE", "edition and RAC in the report"},
	{"V_$DATABASE", "log mode and platform in the report"},
	{"V_$ASM_DISKGROUP", "free space of ASM disk groups"},
	{"V_$RESOURCE_LIMIT", "the limit of connections"},
	{"V_$SYSTEM_EVENT", "wait statistics"},
	{"V_$FILESTAT", "I/O per file"},
}

// inspected are views that `filewise inspect` alone reads: a run asks for no right on them.
var inspected = []view{
	{"DBA_TEMP_FILES", "files of temporary tablespaces"},
	{"V_$OSSTAT", "processors and memory"},
	{"V_$LOG", "the size of the redo log"},
	{"V_$LOGFILE", "the files of the redo log"},
	{"V_$LOG_HISTORY", "how often the redo log is switched"},
	{"V_$SYSSTAT", "how much is read from the cache"},
}

// applied are views that `filewise apply` reads besides.
var applied = []view{
	{"DBA_INDEXES", "indexes of the tables that move"},
	{"DBA_LOBS", "LOBs, which do not"},
	{"DBA_TAB_COLUMNS", "columns that keep a table where it is"},
}

// captured are views that `filewise capture` reads besides.
var captured = []view{
	{"V_$SQL", "whose statements they are"},
	{"V_$SQLSTATS", "statements and their counts"},
	{"DBA_OBJECTS", "names that are no tables"},
	{"DBA_IND_COLUMNS", "columns of indexes"},
	{"DBA_TAB_COL_STATISTICS", "ranges of columns"},
	{"DBA_TAB_HISTOGRAMS", "frequent values"},
}

// grantLock lets the server itself hold the measuring lock; without it sessions
// announce that they measure, and look for others that do.
const grantLock = "EXECUTE ON SYS.DBMS_LOCK"

// rightsOf are the statements that give an account what is needed. They are for
// the user to execute as a DBA of the PDB; Filewise never does.
func rightsOf(account string) []string {
	var system []string
	for _, p := range privileges {
		system = append(system, p.Name)
	}
	all := []string{"GRANT " + strings.Join(system, ", ") + " TO " + account}
	for _, v := range slices.Concat(views, inspected, applied, captured) {
		all = append(all, grant(v, account))
	}
	return append(all, "GRANT "+grantLock+" TO "+account)
}

func grant(v view, account string) string { return "GRANT SELECT ON SYS." + v.Name + " TO " + account }

// grants lets an account read views.
func grants(account string, views ...[]view) string {
	return strings.Join(filewise.Each(slices.Concat(views...), func(v view) string { return grant(v, account) }), "; ")
}
