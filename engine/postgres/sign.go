package postgres

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"strings"

	"filewise"
	"filewise/engine/postgres/dialect"
	"filewise/internal/marker"
)

var (
	createsTable   = regexp.MustCompile(`(?s)^CREATE (?:UNLOGGED )?TABLE (\S+) (?:PARTITION OF (\S+)|\((.*))`)
	createsIndex   = regexp.MustCompile(`^CREATE (UNIQUE )?INDEX (\S+) ON \S+ \(([^()]*)\)`)
	createsRoutine = regexp.MustCompile(`(?s)CREATE (?:PROCEDURE|FUNCTION) "?(\w+)"?\(.*? AS \$fw\$(.*)\$fw\$`)
)

// signed adds a signature to each object that statements create in a database. By the signatures section "others" distinguishes
// Filewise's objects from another user's. A routine has it at the beginning of its body. A table and an index have it
// in their comment, which is written in the creating transaction (both are one message to the server). If database is
// empty, as on a managed server, nothing is signed.
func signed(database string, statements []string) ([]string, error) {
	if database == "" {
		return statements, nil
	}
	all := make([]string, len(statements))
	columns := map[string]string{} // the column definitions of these statements' tables
	for i, s := range statements {
		all[i] = s
		if at := createsRoutine.FindStringSubmatchIndex(s); at != nil {
			all[i] = s[:at[4]] + "\n-- " + signature(database, s[at[2]:at[3]]+s[at[4]:at[5]]) + s[at[4]:]
			continue
		}
		if x := createsIndex.FindStringSubmatch(s); x != nil {
			definition := x[1] + "INDEX " + strings.Trim(x[2], `"`) + " (" + x[3] + ")"
			all[i] = s + ";\nCOMMENT ON INDEX " + x[2] + " IS " + dialect.Literal(signature2(database, definition))
			continue
		}
		table := createsTable.FindStringSubmatch(s)
		if table == nil {
			continue
		}
		has, known := columns[strings.Trim(table[2], `"`)]
		if table[2] == "" {
			has, known = defined(table[3]), true
		}
		if !known {
			return nil, filewise.Errorf(filewise.CodeInternal, "", "table %s: its columns are unknown, so that it cannot be signed", table[1])
		}
		columns[strings.Trim(table[1], `"`)] = has
		all[i] = s + ";\nCOMMENT ON TABLE " + table[1] + " IS " + dialect.Literal(signature2(database, has))
	}
	return all, nil
}

// signature hashes a definition and the database's name, a name that is given only once. So a changed object does not
// pass, and neither does one copied from another of Filewise's databases.
func signature(database, definition string) string {
	sum := sha256.Sum256([]byte(database + " " + definition))
	return fmt.Sprintf("Filewise: %x", sum[:8])
}

// signature2 returns the signature of a table, by its columns with their types, or of an index. Until 0.8 a table's
// signature covered only the columns' names, and indexes had none.
func signature2(database, definition string) string {
	return strings.Replace(signature(database, definition), "Filewise: ", "Filewise 2: ", 1)
}

// defined returns the columns of one of Filewise's CREATE TABLE statements, with types as format_type prints them.
func defined(definitions string) string {
	var all []string
	for _, d := range marker.Definitions(definitions) {
		name, rest, _ := strings.Cut(d, " ")
		if name == "PRIMARY" {
			continue
		}
		kind, _, must := strings.Cut(rest, " NOT NULL")
		null := ""
		if must {
			null = " not null"
		}
		kind, _, _ = strings.Cut(strings.TrimSpace(kind), " COLLATE")
		kind = strings.NewReplacer("varchar(", "character varying(", "char(", "character(").Replace(kind)
		all = append(all, strings.Trim(name, `"`)+" "+kind+null)
	}
	return strings.Join(all, ", ")
}
