package ownsql

import (
	"slices"
	"strings"

	"filewise"
)

// refusedAlways begin statements that leave the build's database, or change the
// server. What a function or a block does inside is not looked at: docs/study-files.md
// says what is not guarded.
var refusedAlways = []string{
	"USE", "CONNECT", "ATTACH", "DETACH", "SHUTDOWN", "KILL", "GRANT", "REVOKE", "RESTART", "CLONE", "BACKUP", "RESTORE",
	"CREATE DATABASE", "CREATE SCHEMA", "DROP DATABASE", "DROP SCHEMA", "ALTER DATABASE", "ALTER SCHEMA",
	"CREATE TABLESPACE", "DROP TABLESPACE", "ALTER TABLESPACE", "ALTER SYSTEM", "ALTER INSTANCE", "CHANGE MASTER", "CHANGE REPLICATION", "STOP SLAVE", "STOP REPLICA",
	"CREATE USER", "DROP USER", "ALTER USER", "CREATE ROLE", "DROP ROLE", "ALTER ROLE", "REASSIGN", "DROP OWNED",
	"SET GLOBAL", "SET PERSIST", "SET PERSIST_ONLY", "RESET MASTER", "PURGE", "FLUSH", "INSTALL", "UNINSTALL", "CREATE SERVER", "DROP SERVER", "LOAD DATA", "LOAD XML",
	"SET ROLE", "SET SESSION AUTHORIZATION", "LOAD", "VACUUM INTO", "PREPARE TRANSACTION", "XA", "CREATE SUBSCRIPTION", "DROP SUBSCRIPTION",
}

// refusedInTransactions begin what Filewise does itself around them.
var refusedInTransactions = []string{"BEGIN", "START TRANSACTION", "COMMIT", "END", "ROLLBACK", "SAVEPOINT", "RELEASE", "ABORT", "LOCK TABLES", "UNLOCK TABLES", "SET AUTOCOMMIT", "PRAGMA"}

// refusedWithin are words that may stand anywhere.
var refusedWithin = []string{"INTO OUTFILE", "INTO DUMPFILE", "PROGRAM"}

// refuse refuses what is dangerous where that can be told cheaply.
func (r Rules) refuse(s Statement, more []string) error {
	words, dotted, hidden := r.words(s.Text)
	no := func(remedy, what string) error {
		return filewise.Errorf(filewise.CodeUsage, remedy, "%s: %s is refused: SQL of a study file stays within the database that Filewise makes for it", s.Place, what)
	}
	if hidden {
		return no("write it without the comment", "code in a comment (/*! … */)")
	}
	line := strings.Join(words, " ") + " "
	for _, begin := range slices.Concat(refusedAlways, more) {
		if strings.HasPrefix(line, begin+" ") {
			return no("leave it out: transactions are begun and ended by Filewise, databases and accounts are made by their owner", begin)
		}
	}
	for _, within := range refusedWithin {
		if strings.Contains(" "+line, " "+within+" ") && (within != "PROGRAM" || words[0] == "COPY") {
			return no("leave it out", within)
		}
	}
	if r.Qualified && dotted && slices.Contains([]string{"DROP", "TRUNCATE", "ALTER", "RENAME", "CREATE"}, words[0]) {
		return no("name the table without a database", words[0]+" of an object of a named database")
	}
	return nil
}

// words are those of a statement's code, in capitals; dotted tells whether one of
// the first few has a dot behind it, hidden whether a comment holds code.
func (r Rules) words(text string) (words []string, dotted, hidden bool) {
	for _, p := range r.scan(text) {
		switch p.kind {
		case pieceNote:
			if r.Hash && (strings.HasPrefix(p.text, "/*!") || strings.HasPrefix(p.text, "/*M!")) {
				hidden = true
			}
		case pieceQuoted:
			words = append(words, `"`)
		case pieceCode:
			for _, w := range strings.FieldsFunc(p.text, func(c rune) bool { return c < 0x80 && !inName(byte(c)) && c != '.' }) {
				if strings.Contains(w, ".") && len(words) < 8 {
					dotted = true
				}
				words = append(words, strings.ToUpper(w))
			}
		}
	}
	if len(words) == 0 {
		words = []string{""}
	}
	return words, dotted, hidden
}
