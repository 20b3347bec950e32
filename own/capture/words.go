package capture

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"filewise"
)

// works lists the first words of statements that a study can repeat.
var (
	works  = []string{"SELECT", "INSERT", "UPDATE", "DELETE", "REPLACE", "MERGE", "WITH", "VALUES", "TABLE", "CALL", "("}
	begins = []string{"BEGIN", "START"}
	// notRepeated holds, by first word, why a study does not repeat work on rows.
	notRepeated = map[string]string{"COPY": "a study loads and unloads no files", "LOAD": "a study loads and unloads no files",
		"DO": "a study repeats no block of code"}
	ends     = []string{"COMMIT", "END", "ROLLBACK", "ABORT"}
	cursors  = []string{"FETCH", "MOVE", "CLOSE"}
	prepares = []string{"PREPARE", "DEALLOCATE"}
	// controls lists the first words of what a study does by itself, so that these count as covered as the rest is.
	controls = slices.Concat(begins, ends, []string{"SAVEPOINT", "RELEASE"}, cursors)
	// catalogues lists prefixes of the server's own tables.
	catalogues     = []string{"pg_", "information_schema.", "performance_schema.", "mysql.", "sys."}
	serverFunction = regexp.MustCompile(`\bpg_\w+ *[(.]|@@|CONNECTION_ID|current_setting *\(`)
	// filewiseOwn marks the queries of an earlier capture, by a name in them. rolledBack stands for a log's transactions
	// that were rolled back.
	filewiseOwn, rolledBack = "filewise_v", "ROLLBACK of what was begun"
	// undone stands for the parts of a log's transactions that were rolled back, and notEnded for transactions that were
	// open at its end.
	undone, notEnded = "ROLLBACK TO SAVEPOINT", "what the log ends within"
	// unreadable stands for the places of a log that could not be read.
	unreadable = filewise.Unreadable
	// foreignKey occurs in the checks that PostgreSQL executes by itself. A deferred one counts as a client's statement.
	foreignKey = "OPERATOR(pg_catalog."
	// following matches what refers to an earlier statement of the session.
	following = regexp.MustCompile("(?i)\\b(?:LAST_INSERT_ID[\"`]? *\\( *\\)|" +
		"(?:curr|last)val *\\(|SCOPE_IDENTITY *\\()|@@IDENTITY\\b|\\.CURRVAL\\b")
	// variable matches a variable of a session, whose value an earlier statement has set.
	variable = regexp.MustCompile(`(?:^|[^@\w` + "`" + `])@[A-Za-z_` + "`" + `]`)
	// waiting matches what lasts as long as its value sets, or until another session releases a lock.
	waiting = regexp.MustCompile("(?i)\\b(?:(?:pg_)?sleep(?:_for|_until)?|benchmark|get_lock)[`\"]? *\\(|^ *waitfor\\b")
)

// withoutNotes returns a text without the comments before its first word.
func withoutNotes(text string) string {
	for {
		text = strings.TrimSpace(text)
		switch {
		case strings.HasPrefix(text, "/*"):
			note, rest, _ := strings.Cut(text[2:], "*/")
			for open := strings.Count(note, "/*"); open > 0; open-- { // nested, if its end follows before another begins
				more, after, ended := strings.Cut(rest, "*/")
				if !ended || strings.Contains(more, "/*") {
					break
				}
				rest = after
			}
			text = rest
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
