package postgres

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"strings"

	"filewise"
	"filewise/engine/postgres/dialect"
	"filewise/internal/mark"
)

var (
	createsTable   = regexp.MustCompile(`(?s)^CREATE (?:UNLOGGED )?TABLE (\S+) (?:PARTITION OF (\S+)|\((.*))`)
	createsIndex   = regexp.MustCompile(`^CREATE (UNIQUE )?INDEX (\S+) ON \S+ \(([^()]*)\)`)
	createsRoutine = regexp.MustCompile(`(?s)CREATE (?:PROCEDURE|FUNCTION) "?(\w+)"?\(.*? AS \$fw\$(.*)\$fw\$`)
)

// signed gives what statements create in a database a signature, by which section "others" distinguishes
// it from what another user has put there: a routine at the beginning of its body, a table and an index in its
// comment, which is written in the transaction that creates it: both are one message to the server. Without
// a database's name, on a managed server, nothing is.
func signed(database string, statements []string) ([]string, error) {
	if database == "" {
		return statements, nil
	}
	all := make([]string, len(statements))
	columns := map[string]string{} // the definitions of the tables of these statements
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

// signature holds the sum of a definition and of the database's name, which is given once: neither
// what was changed nor what comes from another of Filewise's databases passes.
func signature(database, definition string) string {
	sum := sha256.Sum256([]byte(database + " " + definition))
	return fmt.Sprintf("Filewise: %x", sum[:8])
}

// signature2 returns a table's, by its columns with their types, and an index's. Until 0.8 tables had the signature of
// their columns' names alone, and indexes none.
func signature2(database, definition string) string {
	return strings.Replace(signature(database, definition), "Filewise: ", "Filewise 2: ", 1)
}

// defined returns the columns of a CREATE TABLE of Filewise's as format_type has them.
func defined(definitions string) string {
	var all []string
	for _, d := range mark.Definitions(definitions) {
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
