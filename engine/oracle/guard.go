package oracle

import (
	"slices"
	"strings"

	"filewise/engine/customsql"
)

var (
	// customWork begin statements that read and write rows.
	customWork = []string{"SELECT", "WITH", "INSERT", "UPDATE", "DELETE", "MERGE", "LOCK", "BEGIN", "DECLARE"}
	// customSetup begin further statements, which create what the work needs.
	customSetup = []string{"CREATE", "ALTER", "DROP", "TRUNCATE", "COMMENT", "ANALYZE", "COMMIT"}
	// customPackages lists the server's packages that reach nothing outside.
	customPackages = []string{"DBMS_RANDOM", "DBMS_LOB", "DBMS_OUTPUT", "DBMS_STANDARD"}
)

// Remedies for what is refused.
const (
	leaveOut    = "leave it out"
	notFilewise = "leave it out: users, tablespaces and settings are their owner's"
	ofTheSetup  = "write to tables alone that the set-up creates"
)

// Guard refuses statements that are not known to stay among the objects that the set-up creates.
func (o userNames) Guard(words []customsql.Word, setup bool) (what, remedy string) {
	first := userAt(words, 0)
	switch {
	case !first.Is(customWork...) && !(setup && first.Is(customSetup...)):
		return strings.TrimSpace(first.Text + " " + userAt(words, 1).Text), notFilewise + "; transactions are begun and ended by Filewise"
	case userBlock(words) && !userAt(words, len(words)-1).Is("END", ";") && !userAt(words, len(words)-2).Is("END"):
		return "a part of a block", "give a block as an item of a list, so that its semicolons stay in it"
	case first.Is("CREATE", "ALTER", "DROP"):
		kind, name := userObject(words, 1)
		if first.Is("CREATE") {
			kind, name = created(words)
		}
		if kind == "" || o.in[name] == "" {
			return first.Text + " " + userAt(words, 1).Text, "make " + strings.ToLower(strings.Join(customKinds, ", ")) +
				" alone, and alter and drop what the set-up has created"
		}
	}
	for i, w := range words {
		if what, remedy = leaves(w, userAt(words, i+1), setup); what != "" {
			return what, remedy
		}
		if what := o.advances(words, i); what != "" {
			return what, "use a sequence that the set-up creates"
		}
		if target, is := written(words, i); is && !o.copy && o.in[folded(target)] == "" {
			return w.Text + " … " + target.Text, ofTheSetup
		}
	}
	return "", ""
}

// advances returns a sequence that a word advances, or a schema's routine that it calls, if the set-up has not created
// it; else "".
func (o userNames) advances(words []customsql.Word, i int) string {
	w, before := words[i], userAt(words, i-2)
	switch {
	case o.copy || i < 2 || !userAt(words, i-1).Is("."): // the user of a copy has no right on what is not in it
	case folded(w) == "NEXTVAL" && (o.in[folded(before)] == "" || userAt(words, i-3).Is(".")):
		return "NEXTVAL of " + before.Text
	case userAt(words, i+1).Is("(") && userAt(words, i-3).Is(".") && !slices.Contains(customPackages, folded(before)):
		return "a call in a schema (" + userAt(words, i-4).Text + ")"
	}
	return ""
}

// leaves refuses a word that would reach beyond the statement.
func leaves(w, next customsql.Word, setup bool) (what, remedy string) {
	name := w.Text
	if w.Quoted && strings.HasPrefix(w.Text, `"`) { // the server's packages have names in capitals, quoted or not
		name = strings.Trim(w.Text, `"`)
	}
	owner, _, _ := strings.Cut(name, "_")
	switch {
	case slices.Contains([]string{"DBMS", "UTL"}, owner) && !slices.Contains(customPackages, name),
		slices.Contains([]string{"HTTPURITYPE", "HTTPURIFACTORY", "URIFACTORY", "APEX_WEB_SERVICE", "OWA_UTIL"}, name) && next.Is("(", "."):
		return "the server's " + name, leaveOut
	case w.Quoted:
	case strings.Contains(w.Text, "@"):
		return "a database link (" + w.Text + ")", leaveOut
	case w.Is("Q", "NQ") && next.Quoted && strings.HasPrefix(next.Text, "'"):
		return "a text quoted by q'…'", "quote it by '…', in which '' stands for a quote"
	case w.Is("EXECUTE", "AUTONOMOUS_TRANSACTION", "EXTERNAL", "LIBRARY", "LANGUAGE"), setup && w.Is("TABLESPACE", "INDEXTYPE"):
		return w.Text, leaveOut
	case setup && (w.Is("RENAME") && next.Is("TO") || w.Is("STORE") && next.Is("AS")): // such names could not be traced
		return w.Text + " " + next.Text, leaveOut
	case !setup && w.Is("COMMIT", "ROLLBACK", "SAVEPOINT"):
		return w.Text, "leave it out: transactions are begun and ended by Filewise"
	}
	return "", ""
}

// written returns the table that a word of a statement writes to, alters or locks.
func written(words []customsql.Word, i int) (target customsql.Word, is bool) {
	w, before, next := words[i], userAt(words, i-1), userAt(words, i+1)
	switch {
	case w.Is("INTO") && before.Is("INSERT", "MERGE"):
		return next, true
	case w.Is("INSERT") && next.Is("ALL", "FIRST"):
		return next, true // one of several tables
	case w.Is("UPDATE") && !before.Is("FOR", "ON", ".") && !next.Is("SET"):
		return next, true
	case w.Is("DELETE") && !before.Is("ON", ".") && next.Is("FROM"):
		return userAt(words, i+2), true
	case w.Is("DELETE") && !before.Is("ON", ".") && !next.Is("WHERE", ";"):
		return next, true
	case i == 0 && w.Is("TRUNCATE", "ANALYZE"), w.Is("LOCK") && next.Is("TABLE"):
		return userAt(words, 2), true
	case i == 0 && w.Is("COMMENT"):
		return userAt(words, 3), true
	case w.Is("ON") && i > 0 && userAt(words, 0).Is("CREATE"):
		kind, _ := created(words)
		return next, kind == "INDEX"
	}
	return customsql.Word{}, false
}
