// This file refuses custom SQL that is not known to stay within the database of a build on SQL Server.

package sqlserver

import (
	"slices"
	"strings"

	"filewise/engine/customsql"
)

// T-SQL ends a statement where the next one begins, with or without a semicolon. So the guard examines each word of a
// statement. The words that begin statements are reserved, and mean nothing else unless they are quoted.
var (
	// guardWorks begin statements that read and write rows.
	guardWorks = []string{"SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "WITH", "TRUNCATE", "EXEC", "EXECUTE"}
	// sets begin statements that create what a workload needs, and batches that fill it.
	sets = []string{"CREATE", "ALTER", "DROP", "DECLARE", "SET", "IF", "WHILE", "BEGIN"}
	// notInWork are refused in transactions, because Filewise begins and ends these.
	notInWork = []string{"CREATE", "ALTER", "DROP", "DECLARE", "IF", "WHILE", "BEGIN", "COMMIT", "ROLLBACK", "SAVE", "RETURN", "WAITFOR",
		"GOTO", "PRINT", "RAISERROR", "OPEN", "CLOSE", "DEALLOCATE"}
	// nowhere are refused in every statement: they concern the server, its files, rights, and other servers.
	nowhere = []string{"BACKUP", "RESTORE", "DBCC", "KILL", "SHUTDOWN", "RECONFIGURE", "GRANT", "REVOKE", "DENY", "CHECKPOINT", "BULK",
		"OPENROWSET", "OPENQUERY", "OPENDATASOURCE", "DUMP", "LOAD", "SETUSER", "REVERT", "READTEXT", "WRITETEXT", "UPDATETEXT", "EXTERNAL"}
	// guardMade lists what a set-up can create, alter and drop, after modifiers.
	guardMade = []string{"TABLE", "INDEX", "VIEW", "SEQUENCE", "TYPE", "FUNCTION", "PROCEDURE", "PROC", "TRIGGER", "STATISTICS", "SYNONYM",
		"SCHEMA", "PARTITION", "COLUMN", "CONSTRAINT"}
	modifiers = []string{"OR", "ALTER", "UNIQUE", "CLUSTERED", "NONCLUSTERED", "COLUMNSTORE", "PRIMARY", "XML", "SPATIAL"}
)

const (
	leaveOut   = "leave it out: databases, settings and rights are their owner's"
	byASetup   = "leave it out, or have the set-up make a procedure of it: transactions are begun and ended by Filewise"
	byItself   = "divide statements by semicolons"
	callOurs   = "name a procedure that the set-up makes"
	unprefixed = "name tables without a database, and give a table an alias for its columns"
)

// guardCustom refuses custom SQL that is not known to stay within the build's database.
func guardCustom(words []customsql.Word, setup bool) (what, remedy string) {
	if len(words) == 0 {
		return "", ""
	}
	if first := words[0]; !first.Is(guardWorks...) && !(setup && first.Is(sets...)) {
		return "what begins with " + first.Text, byASetup
	}
	changes, merges := 0, false
	for i, w := range words {
		if what, remedy = guardWord(words, i, setup); what != "" {
			return what, remedy
		}
		merges = merges || w.Is("MERGE")
		if w.Is("INSERT", "UPDATE", "DELETE", "TRUNCATE") || w.Is("EXEC", "EXECUTE") && !words[0].Is("INSERT") {
			changes++
		}
	}
	if changes > 1 && !merges && !setup {
		return "more than one change in a statement", byItself
	}
	return "", ""
}

// guardWord checks one word and its neighbours.
func guardWord(words []customsql.Word, i int, setup bool) (what, remedy string) {
	w, before := words[i], customsql.Word{}
	if i > 0 {
		before = words[i-1]
	}
	switch {
	case w.Is(nowhere...), w.Is("USE") && !before.Is("(", ","), w.Is("SERVER") && before.Is("ALL"): // OPTION (USE HINT (…))
		return w.Text, leaveOut
	case !setup && w.Is(notInWork...):
		return w.Text, byASetup
	case w.Is("ALTER") && before.Is("OR"): // part of CREATE OR ALTER
		return "", ""
	case w.Is("CREATE", "ALTER", "DROP"):
		of := slices.IndexFunc(words[i+1:], func(w customsql.Word) bool { return !w.Is(modifiers...) })
		if of < 0 || !words[i+1+of].Is(guardMade...) {
			return strings.TrimSpace(w.Text + " " + words[min(i+1+max(of, 0), len(words)-1)].Text), leaveOut
		}
	case w.Is("EXEC", "EXECUTE"):
		return guardCall(words[i+1:], setup)
	case guardParts(words, i) > 2:
		return "a name of more than two parts", unprefixed
	}
	return "", ""
}

// guardCall checks the target of a call. It must be the name of a procedure in the database: no text to execute, no
// account, and none of the server's procedures.
func guardCall(rest []customsql.Word, setup bool) (what, remedy string) {
	if setup && len(rest) > 1 && rest[0].Is("AS") && rest[1].Is("CALLER", "OWNER", "SELF") {
		return "", "" // of a procedure that the set-up creates
	}
	if len(rest) > 2 && strings.HasPrefix(rest[0].Text, "@") && rest[1].Is("=") {
		rest = rest[2:]
	}
	var names []string
	for i := 0; i < len(rest); i += 2 {
		names = append(names, strings.ToUpper(strings.Trim(rest[i].Text, `[]"`)))
		if i+1 == len(rest) || !rest[i+1].Is(".") {
			break
		}
	}
	if len(names) == 0 || rest[0].Is("AS", "(") || strings.IndexAny(rest[0].Text, "@'") == 0 {
		return "EXEC of a text, a variable or an account", callOurs
	}
	if last := names[len(names)-1]; names[0] == "SYS" || strings.HasPrefix(last, "SP_") || strings.HasPrefix(last, "XP_") {
		return "EXEC " + strings.Join(names, "."), callOurs
	}
	return "", ""
}

// guardParts returns how many names, separated by dots, end with the word at i.
func guardParts(words []customsql.Word, i int) int {
	n := 1
	for i > 0 && words[i-1].Is(".") {
		n++
		if i -= 2; i < 0 || words[i].Is(".") { // in other..t the middle name is empty
			i++
		}
	}
	return n
}
