package oracle

import (
	"slices"
	"strings"

	"filewise"
)

// The commands that query a server.
const (
	byDoctor  = "doctor"
	byRun     = "run"
	byClean   = "clean"
	byInspect = "inspect"
	byCapture = "capture"
	byApply   = "apply"
	byLoops   = "run inserts, orders, dml" // their loops are procedures
	byCustom  = "run custom"
	byCopy    = "run custom --from"
)

// privilege is a system privilege that Filewise needs, and its purpose.
type privilege struct {
	Name, For string
	by        []string
}

// privileges lists the system privileges. The three on tablespaces are powerful, because they hold for every tablespace
// of the database; see the package's comment.
var privileges = []privilege{
	{"CREATE SESSION", "to log on", []string{byDoctor, byRun, byClean, byInspect, byCapture, byApply}},
	{"CREATE TABLE", "for the workload's tables, in the account's own schema", []string{byRun}},
	{createProcedure, "for the workload's loop, which runs on the server", []string{byLoops}},
	{"CREATE TABLESPACE", "for the layouts", []string{byRun}},
	{"ALTER TABLESPACE", "to add datafiles, and to write changed blocks before and after measuring", []string{byRun, byClean}},
	{"DROP TABLESPACE", "to remove the layouts", []string{byRun, byClean}},
	{"UNLIMITED TABLESPACE", "for space in tablespaces that do not exist yet, for which no quota can be given", []string{byRun}},
}

// createProcedure is the privilege that scenarios without a loop on the server do not need.
const createProcedure = "CREATE PROCEDURE"

// customPrivileges lists what a set-up needs in addition, by the kind of object that it creates.
var customPrivileges = []struct{ kind, Name string }{
	{"VIEW", "CREATE VIEW"}, {"SEQUENCE", "CREATE SEQUENCE"}, {"PROCEDURE", createProcedure},
}

// view is a dictionary view that Filewise reads.
type view struct {
	Name     string   // the name in a GRANT: SYS.V_$SESSION
	Optional string   // what is missing without it; "" if nothing works without it
	by       []string // the commands that read it
}

var views = []view{
	{"DBA_TABLESPACES", "", []string{byDoctor, byRun, byClean, byInspect, byCapture, byApply}},
	{"DBA_DATA_FILES", "", []string{byDoctor, byRun, byInspect, byApply}},
	{"DBA_SEGMENTS", "", []string{byRun, byClean, byCapture, byApply}},
	{"DBA_TABLES", "", []string{byRun, byClean, byCapture, byApply}},
	{"V_$SESSION", "", []string{byDoctor, byRun, byClean, byCapture}},
	{"V_$PARAMETER", "DB_FILES, the default place, RAC and settings in preflight and report", []string{byDoctor, byRun}},
	{"DBA_FREE_SPACE", "how much of each file is used", []string{byDoctor, byRun, byInspect}},
	{"V_$INSTANCE", "edition and RAC in the report; the age of counters", []string{byDoctor, byRun, byInspect}},
	{"V_$DATABASE", "log mode and platform in the report", []string{byDoctor, byRun}},
	{"V_$ASM_DISKGROUP", "free space of ASM disk groups", []string{byDoctor, byRun}},
	{"V_$RESOURCE_LIMIT", "the limit of connections", []string{byDoctor, byRun}},
	{"V_$SYSTEM_EVENT", "wait statistics", []string{byRun, byInspect}},
	{"V_$FILESTAT", "I/O per file", []string{byRun, byInspect}},
	{"V_$LOG", "the redo log's groups in the report", []string{byDoctor, byRun, byInspect}},
}

// inspected lists the views that only `filewise inspect` reads. A run asks for no right on them.
var inspected = []view{
	{"DBA_TEMP_FILES", "files of temporary tablespaces", []string{byInspect}},
	{"V_$OSSTAT", "processors and memory", []string{byInspect}},
	{"V_$LOGFILE", "the files of the redo log", []string{byInspect}},
	{"V_$LOG_HISTORY", "how often the redo log is switched", []string{byInspect}},
	{"V_$SYSSTAT", "how much is read from the cache", []string{byInspect}},
}

// applied lists the views that `filewise apply` reads in addition.
var applied = []view{
	{"DBA_INDEXES", "", []string{byCapture, byApply}},
	{"DBA_LOBS", "", []string{byApply}},
	{"DBA_TAB_COLUMNS", "", []string{byCapture, byApply}},
}

// captured lists the views that `filewise capture` reads in addition.
var captured = []view{
	{"V_$SQL", "", []string{byCapture}},
	{"V_$SQLSTATS", "", []string{byCapture}},
	{"DBA_OBJECTS", "", []string{byCapture}},
	{"DBA_IND_COLUMNS", "", []string{byCapture}},
	{"DBA_TAB_COL_STATISTICS", "", []string{byCapture}},
	{"DBA_TAB_HISTOGRAMS", "", []string{byCapture}},
}

// needs returns the rights of an account, one in each row.
func needs() (all []filewise.Need) {
	const setUps = "set-ups that create one"
	for _, p := range privileges {
		n := filewise.Need{Right: p.Name, Grant: "GRANT " + p.Name + " TO filewise", Commands: p.by}
		if p.Name == createProcedure {
			n.Parts, n.Without = []string{byCustom}, setUps
		}
		all = append(all, n)
	}
	goesOn := func(view, command string) bool {
		return command == byDoctor || command == byInspect || command == byCapture && slices.Contains([]string{"V_$SESSION", "DBA_OBJECTS",
			"DBA_TABLESPACES", "DBA_SEGMENTS", "DBA_TAB_HISTOGRAMS"}, view)
	}
	for _, p := range customPrivileges {
		if p.Name != createProcedure {
			all = append(all, filewise.Need{Right: p.Name, Grant: "GRANT " + p.Name + " TO filewise", Parts: []string{byCustom}, Without: setUps})
		}
	}
	for _, v := range slices.Concat(views, inspected, applied, captured) {
		n := filewise.Need{Right: "SELECT ON SYS." + v.Name, Grant: grant(v, "filewise"), Parts: v.by, Without: v.Optional}
		if v.Optional == "" {
			n.Commands = slices.DeleteFunc(slices.Clone(v.by), func(command string) bool { return goesOn(v.Name, command) })
			n.Parts = slices.DeleteFunc(slices.Clone(v.by), func(command string) bool { return !goesOn(v.Name, command) })
			n.Without = map[bool]string{true: "their figures from it"}[len(n.Parts) > 0]
		}
		all = append(all, n)
	}
	all = append(all, filewise.Need{Right: dumpRole, Grant: "GRANT " + dumpRole + " TO filewise", Commands: []string{byCopy}},
		filewise.Need{Right: onDirectory, Grant: "GRANT " + onDirectory + " … TO filewise", Commands: []string{byCopy}},
		filewise.Need{Right: exportRole, Grant: "GRANT " + exportRole + " TO filewise", Parts: []string{byCopy},
			Without: "a dump must be there (datapump:DIRECTORY/FILE.dmp)"},
		filewise.Need{Right: grantFile, Grant: "GRANT " + grantFile + " TO filewise", Parts: []string{byCopy},
			Without: "the dump that the run exports stays, and is named"},
		filewise.Need{Right: grantLock, Grant: "GRANT " + grantLock + " TO filewise", Parts: []string{byRun},
			Without: "runs see each other by what their sessions announce"})
	return all
}

// grantLock lets the server itself hold the measuring lock. Without it sessions announce that they measure, and look
// for others that do.
const grantLock = "EXECUTE ON SYS.DBMS_LOCK"

// onDirectory is the right on a dump's directory, and grantFile removes a dump from there. By default every account has the
// latter.
const (
	onDirectory = "READ, WRITE ON DIRECTORY"
	grantFile   = "EXECUTE ON SYS.UTL_FILE"
)

// rightsOf returns the statements that give an account what is needed. The user executes them as a DBA of the PDB;
// Filewise never does.
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

// grants returns the statement that lets an account read views.
func grants(account string, views ...[]view) string {
	return strings.Join(filewise.Each(slices.Concat(views...), func(v view) string { return grant(v, account) }), "; ")
}
