package customsql

import (
	"regexp"
	"slices"
	"strings"

	"filewise"
)

// Kinds of statements, by their first word. A kind on neither list is refused on every engine: an account that can do
// more must not do it here. The contents of functions and blocks are not checked: see docs/study-files.md.
var (
	// inTransactions begin statements that read and write rows, and set the session's variables.
	inTransactions = []string{"", "SELECT", "INSERT", "UPDATE", "DELETE", "REPLACE", "MERGE", "WITH", "VALUES", "TABLE", "CALL", "DO", "SET",
		"EXPLAIN", "SHOW", "DESC", "DESCRIBE", "TRUNCATE", "LOCK", "HANDLER", "EXECUTE", "PREPARE", "DEALLOCATE", "ANALYZE",
		"DECLARE", "FETCH", "CLOSE"}
	// inSetup begin further statements, which create what a workload needs.
	inSetup = []string{"CREATE", "ALTER", "DROP", "RENAME", "COMMENT", "REINDEX", "VACUUM", "CLUSTER", "REFRESH", "OPTIMIZE", "CHECK",
		"PRAGMA",
		"RESET", "BEGIN", "START", "COMMIT", "END", "UNLOCK"}
)

// within lists kinds of objects in a database, and beyond kinds of objects of a server.
var (
	within = []string{"TABLE", "INDEX", "VIEW", "SEQUENCE", "TYPE", "DOMAIN", "FUNCTION", "PROCEDURE", "TRIGGER", "EVENT", "RULE", "AGGREGATE",
		"OPERATOR", "STATISTICS", "POLICY", "COLLATION", "EXTENSION", "COLUMN", "CONSTRAINT", "PACKAGE"}
	beyond = []string{"DATABASE", "SCHEMA", "TABLESPACE", "SYSTEM", "INSTANCE", "USER", "ROLE", "SERVER", "SUBSCRIPTION", "PUBLICATION",
		"LOGFILE", "GROUP", "OWNED",
		"RESOURCE", "UNDO", "LANGUAGE", "WRAPPER", "PRIVILEGES", "OBJECT"}
)

// notOf lists words by which an allowed kind of statement would change more than the build's database and its own
// session. They are refused anywhere in a statement's code.
var notOf = map[string][]string{
	"SET": {"GLOBAL", "PERSIST", "PERSIST_ONLY", "PASSWORD", "ROLE", "AUTHORIZATION", "SESSION_AUTHORIZATION", "STATEMENT",
		"RESOURCE",
		// After these the server reads quotes differently from Filewise.
		"SQL_MODE", "STANDARD_CONFORMING_STRINGS", "BACKSLASH_QUOTE", "NAMES", "CHARACTER", "CHARSET", "CHARACTER_SET_CLIENT",
		"CHARACTER_SET_CONNECTION", "CLIENT_ENCODING"},
	"RESET":   {"MASTER", "SLAVE", "REPLICA", "QUERY", "PERSIST", "BINARY", "ROLE", "AUTHORIZATION", "SESSION_AUTHORIZATION"},
	"SELECT":  {"OUTFILE", "DUMPFILE"},
	"WITH":    {"OUTFILE", "DUMPFILE"},
	"TABLE":   {"OUTFILE", "DUMPFILE"},
	"VALUES":  {"OUTFILE", "DUMPFILE"},
	"VACUUM":  {"INTO"},
	"BEGIN":   {"ATOMIC"},
	"START":   {"SLAVE", "SLAVES", "REPLICA", "REPLICAS", "GROUP_REPLICATION"},
	"CREATE":  {"SONAME"},
	"EXECUTE": {"IMMEDIATE"},
	"LOCK":    {"INSTANCE", "TABLES"},
	"PREPARE": {"TRANSACTION"},
}

// notSet matches session settings by which a session would write to the server's logs, past them, or for its replicas,
// or use any engine for tables.
var notSet = regexp.MustCompile(`^(LOG_\w+|SQL_LOG_\w+|BINLOG_\w+|GTID_\w+|PSEUDO_\w+|SERVER_ID|SKIP_REPLICATION|DEBUG|DEBUG_DBUG|` +
	`\w*STORAGE_ENGINE)$`)

// trusted lists languages whose functions reach nothing outside the database.
var trusted = []string{"SQL", "PLPGSQL", "PLPERL", "PLTCL", "PLV8"}

// ofServer matches functions, tables and words that reach the server's files, its log, other sessions, or what its
// databases share. They are refused in every statement.
var ofServer = regexp.MustCompile(`^"?(PG_(READ_|LS_|RELOAD_|ROTATE_|TERMINATE_|CANCEL_|STAT_RESET|STAT_FILE|SWITCH_|PROMOTE|WAL_REPLAY_|` +
	`BACKUP_|START_BACKUP|STOP_BACKUP|CREATE_RESTORE_|DROP_REPLICATION_|CREATE_LOGICAL_|CREATE_PHYSICAL_|COPY_|SYNC_REPLICATION_|` +
	`LOG|REPLICATION_|FILE_|HBA_|IDENT_|SHOW_ALL_FILE_|STAT_STATEMENTS_RESET|BUFFERCACHE_EVICT)\w*|BINARY_UPGRADE_\w+|` +
	`PG_(SETTINGS|DATABASE|AUTHID|AUTH_MEMBERS|SHADOW|TABLESPACE|DB_ROLE_SETTING|PARAMETER_ACL|SUBSCRIPTION|` +
	`SH(DEPEND|DESCRIPTION|SECLABEL))|LO_(IM|EX)PORT|(QUERY|CURSOR)_TO_XML\w*|TS_(STAT|REWRITE)|DBLINK\w*|` +
	`\w+_FDW|ADMINPACK|PG_CRON|PL(PYTHON3?|PERL|TCL)U|LOAD_FILE|(OUT|DUMP)FILE)$`)

// ofApplication matches the name of a setting that an application defines itself.
var ofApplication = regexp.MustCompile(`^'\w+\.\w+'$`)

// refuse refuses a statement that is not known to stay within the build's database. setup is true for a statement of
// the set-up.
func (r Rules) refuse(s Statement, setup bool) error {
	no := func(remedy, what string) error {
		return filewise.Errorf(filewise.CodeUsage, remedy,
			"%s: %s is refused: SQL of a study file stays within the database that Filewise makes for it", s.Place, what)
	}
	if what := r.misread(s.Text); what != "" {
		return no("write it in plain SQL", what)
	}
	if r.Guard != nil {
		if what, remedy := r.Guard(r.Words(s.Text), setup); what != "" {
			return no(remedy, what)
		}
		return nil
	}
	if r.Hash {
		if what, remedy := outward(r.Words(s.Text)); what != "" {
			return no(remedy, what)
		}
	}
	if what, remedy := calls(r.Words(s.Text), r.Qualified); what != "" {
		return no(remedy, what)
	}
	words, hidden := r.words(s.Text)
	kind := words[0]
	switch {
	case hidden:
		return no("write it without the comment", "code in a comment (/*! … */)")
	case !slices.Contains(inTransactions, kind) && !(setup && slices.Contains(inSetup, kind)), kind == "LOCK" && r.Qualified:
		return no("leave it out: transactions are begun and ended by Filewise, databases and accounts are made by their owner",
			strings.Join(words[:min(len(words), 2)], " "))
	}
	if w := forbidden(words, setup); w != "" {
		return no("leave it out", kind+" … "+strings.TrimPrefix(w, `"`))
	}
	what, at := object(words)
	makes := slices.Contains([]string{"CREATE", "ALTER", "DROP", "RENAME", "TRUNCATE", "COMMENT", "REINDEX"}, kind)
	if makes && (slices.Contains(beyond, what) || what == "" && kind != "TRUNCATE") {
		return no("leave it out: databases and accounts are made by their owner", strings.TrimSpace(kind+" "+what))
	}
	if kind == "DO" || kind == "CREATE" && (what == "FUNCTION" || what == "PROCEDURE") {
		for i, w := range words {
			if w == "LANGUAGE" && !slices.Contains(trusted, strings.TrimPrefix(words[min(i+1, len(words)-1)], `"`)) {
				return no("write it in SQL or PL/pgSQL", kind+" … LANGUAGE of another kind")
			}
		}
	}
	upkeep := kind == "CALL" || slices.Contains([]string{"OPTIMIZE", "CHECK", "ANALYZE"}, kind) &&
		slices.ContainsFunc(words[1:min(3, len(words))], func(w string) bool { return w == "TABLE" || w == "TABLES" || w == "VIEW" })
	if r.Qualified && (makes || upkeep) && dotted(words, at) {
		return no("name it without a database", kind+" of an object of a named database")
	}
	return nil
}

// forbidden returns a word by which an allowed kind reaches out of the build's database, or "" if there is none.
func forbidden(words []string, setup bool) string {
	kind := words[0]
	for _, w := range words[1:] {
		first, _, _ := strings.Cut(w, ".")
		last := w[strings.LastIndexByte(w, '.')+1:]
		names := []string{first}
		if kind == "SET" || kind == "RESET" { // of a setting the name, too, and behind its scope
			names = []string{strings.TrimPrefix(first, `"`), last}
		}
		if slices.ContainsFunc(names, func(name string) bool {
			return slices.Contains(notOf[kind], name) || kind == "SET" && (notSet.MatchString(name) || !setup && name == "AUTOCOMMIT")
		}) || ofServer.MatchString(last) {
			return w
		}
	}
	return ""
}

// object returns the kind of object that a statement creates, alters or drops, and the position of that word. It is the
// first kind that is named, after words such as OR REPLACE or DEFINER=….
func object(words []string) (what string, at int) {
	for i, w := range words[:min(len(words), 16)] {
		if i == 1 && w == "FOREIGN" { // a table on another server
			return "SERVER", i
		}
		if i > 0 && (slices.Contains(within, w) || slices.Contains(beyond, w)) {
			return w, i
		}
	}
	return "", 0
}

// dotted reports whether the object that a statement creates, alters or drops is qualified with a database. The word at
// index at names the object's kind. In other statements a dot can separate a table and its column.
func dotted(words []string, at int) bool {
	dot := func(i int) bool {
		return i < len(words) && words[i][0] != '"' && strings.Contains(words[i], ".") && !number.MatchString(words[i])
	}
	named := func(i int) bool { return dot(i) || dot(i+1) && words[i+1][0] == '.' }
	all, next := slices.Contains([]string{"DROP", "RENAME", "TRUNCATE", "OPTIMIZE", "CHECK", "ANALYZE"}, words[0]), at+1
	for next < len(words) && slices.Contains([]string{"IF", "NOT", "EXISTS", "FUNCTION", "BODY"}, words[next]) {
		next++
	}
	for i, w := range words {
		switch {
		case all && dot(i), i == next && named(i),
			w == "ON" && slices.Contains([]string{"INDEX", "TRIGGER"}, words[at]) && named(i+1),
			w == "RENAME" && (named(i+1) || named(i+2)), // [TO]
			w == "TABLE" && slices.Contains([]string{"WITH", "TO", "CONVERT"}, words[max(i-1, 0)]) && named(i+1):
			return true
		}
	}
	return false
}

var number = regexp.MustCompile(`^(\d+\.\d*|\.\d+)(E\d*)?$`)

// misread returns a part of a text that the lists would miss, or that servers read differently from the scanner. It
// returns "" if there is none. Products differ in whether a control character begins or ends a comment or a text.
func (r Rules) misread(text string) string {
	if strings.ContainsAny(text, "\x00\x7f") {
		return "a control character"
	}
	code := ""
	for _, p := range r.scan(text) {
		switch {
		case p.kind == pieceNote && strings.Contains(strings.ReplaceAll(p.text, "\r\n", ""), "\r") && !strings.HasPrefix(p.text, "/*"):
			return "a comment with a carriage return in it"
		case p.kind == pieceQuoted && p.text[0] == '"' && r.Dollar && strings.HasSuffix(strings.ToUpper(code), "U&"):
			return `a name that is spelled by numbers (U&"…")`
		}
		code = p.text
	}
	words := r.Words(text)
	for i, w := range words {
		if r.Dollar && strings.EqualFold(strings.Trim(w.Text, `"`), "set_config") && // which does what SET does
			(i+2 >= len(words) || !words[i+1].Is("(") || !words[i+2].Quoted || !ofApplication.MatchString(words[i+2].Text)) {
			return "set_config of a setting of the server's"
		}
	}
	return ""
}
