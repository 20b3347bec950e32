package customsql

import (
	"slices"
	"strings"
)

// engines lists the engines of MariaDB and MySQL that store a table's rows themselves. Other engines read files, other
// tables or other servers.
var engines = []string{"INNODB", "MYISAM", "ARIA", "MEMORY", "HEAP", "ARCHIVE", "BLACKHOLE", "CSV", "ROCKSDB"}

// routines contain statements; those that begin with a word in notInRoutines are refused.
var (
	routines      = []string{"PROCEDURE", "FUNCTION", "TRIGGER", "EVENT", "PACKAGE"}
	notInRoutines = []string{"CREATE", "ALTER", "DROP", "RENAME", "TRUNCATE", "GRANT", "REVOKE", "FLUSH", "KILL", "SHUTDOWN", "PREPARE",
		"IMMEDIATE", "GLOBAL", "@@GLOBAL", "@@", "PERSIST", "PERSIST_ONLY", "@@PERSIST", "@@PERSIST_ONLY", "SQL_LOG_BIN", "@@SQL_LOG_BIN",
		"INSTALL", "UNINSTALL", "PURGE", "LOCK", "CHANGE"}
)

// outward returns the part of a MariaDB or MySQL statement that reaches out of the build's database, and what to do
// instead; "" if there is none.
func outward(words []Word) (what, remedy string) {
	leave := "leave it out; a name of yours stands in quotes (`…`)"
	at := func(i int) Word {
		if i < 0 || i >= len(words) {
			return Word{}
		}
		return words[i]
	}
	switch {
	case at(0).Is("PREPARE"):
		return "PREPARE of a text", "write the statement itself: Filewise prepares it"
	case at(0).Is("DROP") && at(1).Is("FUNCTION"):
		return "DROP FUNCTION, which drops the server's loadable function of that name,", "leave it out: the build's database is new"
	case written(words, at):
		return "writing to a table of a named database, or a view of it,", "name it without a database"
	}
	if !at(0).Is("CREATE", "ALTER") {
		return "", ""
	}
	body := slices.IndexFunc(words, func(w Word) bool { return w.Is("TABLE", "VIEW", "INDEX", "SEQUENCE") || w.Is(routines...) })
	inRoutine := body > 0 && words[body].Is(routines...)
	for i, w := range words {
		switch {
		case inRoutine && i > 0 && (w.Is(notInRoutines...) && !at(i+1).Is("TEMPORARY", "(") || w.Is("CALL") && named(at, i+1)):
			return w.Text + " within a routine", leave
		case w.Is("DIRECTORY") && at(i-1).Is("DATA", "INDEX"):
			return at(i-1).Text + " DIRECTORY", leave + ": the layout puts tables into directories"
		case w.Is("TABLESPACE"):
			return "TABLESPACE", leave
		case w.Is("REFERENCES") && named(at, i+1):
			return "REFERENCES to a table of a named database", "name it without a database"
		case w.Is("DEFINER") && definedByKind(at, i+2):
			return "a DEFINER that is called like a kind of object", "write it as `user`@`host`"
		case w.Is("ENGINE"):
			name := at(i + 1)
			if name.Is("=") {
				name = at(i + 2)
			}
			if !slices.Contains(engines, strings.ToUpper(strings.Trim(name.Text, "'\"`"))) {
				return "ENGINE " + name.Text, "name one of " + strings.Join(engines, ", ") + "; a name of yours stands in quotes (`engine`)"
			}
		}
	}
	return "", ""
}

// definedByKind reports whether the account at a position is named like a kind of object, for which the function object
// would take it.
func definedByKind(at func(int) Word, i int) bool {
	account := at(i).Text
	for i++; strings.HasSuffix(account, "@") || strings.HasPrefix(at(i).Text, "@"); i++ {
		account += at(i).Text
	}
	return slices.ContainsFunc(strings.Split(account, "@"), func(part string) bool {
		return slices.Contains(within, part) || slices.Contains(beyond, part)
	})
}

// named reports whether the name at a position is qualified with a database.
func named(at func(int) Word, i int) bool {
	name := func(w Word) bool { return w.Quoted || w.Text != "" && inName(w.Text[0]) }
	return name(at(i)) && at(i+1).Is(".") && name(at(i+2))
}

// written reports whether a statement, or one within it, writes to a table of a named database. That includes INSERT,
// the tables of UPDATE or DELETE, and views, through which rows can be written. Statements that only read such a table
// are allowed.
func written(words []Word, at func(int) Word) bool {
	view := at(0).Is("CREATE", "ALTER") && slices.ContainsFunc(words[:min(len(words), 16)], func(w Word) bool { return w.Is("VIEW") })
	type level struct{ writes, listing bool } // listing: a table follows a comma or JOIN
	var now level
	var outer []level
	for i, w := range words {
		before := at(i - 1)
		table := now.listing && (before.Is("UPDATE", "DELETE", "FROM", "USING", ",", "JOIN", "STRAIGHT_JOIN", "LOW_PRIORITY", "QUICK",
			"IGNORE", "TABLE", "(") || at(i-2).Is("{"))
		switch {
		case table && named(at, i):
			return true
		case w.Is("("):
			outer = append(outer, now)
			if !table {
				now = level{}
			}
		case w.Is(")") && len(outer) > 0:
			now, outer = outer[len(outer)-1], outer[:len(outer)-1]
		case w.Is("UPDATE", "DELETE") && !before.Is("FOR", "KEY", "ON", "BEFORE", "AFTER", "OR"):
			now = level{writes: true, listing: true}
		case w.Is("SELECT"):
			now = level{writes: view}
		case w.Is("FROM", "USING", "TABLE"): // TABLE t is SELECT * FROM t
			now.listing = now.writes
		case w.Is("SET", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "WINDOW", "RETURNING"):
			now.listing = false
		case w.Is("INSERT", "REPLACE"):
			for i++; at(i).Is("INTO", "LOW_PRIORITY", "HIGH_PRIORITY", "DELAYED", "IGNORE"); {
				i++
			}
			if named(at, i) {
				return true
			}
		}
	}
	return false
}
