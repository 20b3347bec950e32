package capture

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// works are words that begin what a study can repeat, and controls what it does itself.
var (
	works    = []string{"SELECT", "INSERT", "UPDATE", "DELETE", "REPLACE", "MERGE", "WITH", "VALUES", "TABLE", "CALL", "("}
	begins   = []string{"BEGIN", "START"}
	ends     = []string{"COMMIT", "END", "ROLLBACK", "ABORT"}
	cursors  = []string{"FETCH", "MOVE", "CLOSE"}
	prepares = []string{"PREPARE", "DEALLOCATE"}
	controls = slices.Concat(begins, ends, []string{"SAVEPOINT", "RELEASE"}, cursors, prepares)
	// catalogues begin the names of tables that are the server's.
	catalogues     = []string{"pg_", "information_schema.", "performance_schema.", "mysql.", "sys."}
	serverFunction = regexp.MustCompile(`\bpg_\w+ *[(.]|@@|CONNECTION_ID|current_setting *\(`)
	// filewiseOwn is in the names of an earlier capture's queries, and rolledBack is what a log's transaction came
	// to.
	filewiseOwn, rolledBack = "filewise_v", "ROLLBACK of what was begun"
	// undone and notEnded stand for what parts of a log's transactions, and transactions open at its end, came to.
	undone, notEnded = "ROLLBACK TO SAVEPOINT", "what the log ends within"
	// foreignKey is in what PostgreSQL executes by itself: a check that is deferred counts as a statement of a client's.
	foreignKey = "OPERATOR(pg_catalog."
	// following matches what refers to a statement before in its session.
	following = regexp.MustCompile("(?i)\\b(?:LAST_INSERT_ID[\"`]? *\\( *\\)|" +
		"(?:curr|last)val *\\(|SCOPE_IDENTITY *\\()|@@IDENTITY\\b|\\.CURRVAL\\b")
	// waiting matches what lasts as long as its value sets, or until another session lets go.
	waiting = regexp.MustCompile("(?i)\\b(?:(?:pg_)?sleep(?:_for|_until)?|benchmark|get_lock)[`\"]? *\\(|^ *waitfor\\b")
)

// withoutNotes is a text from its first word on: comments before it are not the statement's.
func withoutNotes(text string) string {
	for {
		text = strings.TrimSpace(text)
		switch {
		case strings.HasPrefix(text, "/*"):
			_, text, _ = strings.Cut(text, "*/")
		case strings.HasPrefix(text, "--"), strings.HasPrefix(text, "#"):
			_, text, _ = strings.Cut(text, "\n")
		default:
			return text
		}
	}
}

// firstWord returns a statement's first word, in capitals.
func firstWord(text string) string {
	text = withoutNotes(text)
	end := strings.IndexFunc(text, func(c rune) bool { return c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c) })
	if end < 0 {
		end = len(text)
	}
	return strings.ToUpper(text[:max(end, min(1, len(text)))])
}
