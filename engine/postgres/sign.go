package postgres

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"strings"

	"filewise"
	"filewise/engine/internal/mark"
	"filewise/engine/postgres/internal/client"
)

var (
	createsTable   = regexp.MustCompile(`(?s)^CREATE (?:UNLOGGED )?TABLE (\S+) (?:PARTITION OF (\S+)|\((.*))`)
	createsRoutine = regexp.MustCompile(`(?s)CREATE (?:PROCEDURE|FUNCTION) "?(\w+)"?\(.*? AS \$fw\$(.*)\$fw\$`)
)

// signed gives what statements create in a database a signature, by which section "others" tells
// it from what somebody else has put there: a routine at the beginning of its body, a table in its
// comment, which is written in the transaction that creates it: both are one message to the server. Without
// a database's name, on a managed server, nothing is.
func signed(database string, statements []string) ([]string, error) {
	if database == "" {
		return statements, nil
	}
	all := make([]string, len(statements))
	columns := map[string]string{} // of the tables of these statements
	for i, s := range statements {
		all[i] = s
		if at := createsRoutine.FindStringSubmatchIndex(s); at != nil {
			all[i] = s[:at[4]] + "\n-- " + signature(database, s[at[2]:at[3]]+s[at[4]:at[5]]) + s[at[4]:]
			continue
		}
		table := createsTable.FindStringSubmatch(s)
		if table == nil {
			continue
		}
		has, known := columns[strings.Trim(table[2], `"`)]
		if table[2] == "" {
			has, known = strings.Join(mark.Columns(table[3]), ", "), true
		}
		if !known {
			return nil, filewise.Errorf(filewise.CodeInternal, "", "table %s: its columns are unknown, so that it cannot be signed", table[1])
		}
		columns[strings.Trim(table[1], `"`)] = has
		all[i] = s + ";\nCOMMENT ON TABLE " + table[1] + " IS " + client.Literal(signature(database, has))
	}
	return all, nil
}

// signature holds the sum of a definition and of the database's name, which is given once: neither
// what was changed nor what comes from another of Filewise's databases passes.
func signature(database, definition string) string {
	sum := sha256.Sum256([]byte(database + " " + definition))
	return fmt.Sprintf("Filewise: %x", sum[:8])
}
