package dialect

import (
	"regexp"
	"slices"
	"strings"

	"filewise/internal/marker"
)

// signature begins the comment of objects that Filewise has created in a database. A hash of the definition and of the
// database's unique name follows. So neither a copy, nor a changed object, nor one from another of Filewise's databases
// is taken for this one.
const (
	signature = "Filewise 2: "
	// signature1 began the comments until 0.8. A table's hash then covered only its columns' names, and indexes had none.
	signature1 = "Filewise: "
)

var (
	createsTable   = regexp.MustCompile("(?s)CREATE TABLE (?:`.*?`\\.)?`?(\\w+)`? \\((.*?)\\n?\\) ENGINE = InnoDB")
	altersTable    = regexp.MustCompile("^ALTER TABLE (?:`.*?`\\.)?`?(\\w+)`? ADD ")
	createsIndex   = regexp.MustCompile(`(UNIQUE )?INDEX (\w+) \(([^()]*)\)`)
	createsRoutine = regexp.MustCompile("(?s)^CREATE PROCEDURE (?:`.*?`\\.)?`?(\\w+)`?\\(.*?\\n(BEGIN\\n.*\\nEND)")
)

// signed adds a signature to what the statements create.
func (s Schema) signed(all []string) []string {
	for i, statement := range all {
		if !s.Signed {
			break
		}
		if at := createsTable.FindStringSubmatchIndex(statement); at != nil {
			name, definitions := statement[at[2]:at[3]], statement[at[4]:at[5]]
			all[i] = statement[:at[4]] + signedIndexes(s.Database, name, definitions) + statement[at[5]:at[1]] + " COMMENT = " +
				Literal(signature+tableSum(s.Database, name, defined(definitions))) + statement[at[1]:]
		} else if table := altersTable.FindStringSubmatch(statement); table != nil {
			all[i] = signedIndexes(s.Database, table[1], statement)
		} else if at := createsRoutine.FindStringSubmatchIndex(statement); at != nil {
			body := statement[at[4]:at[5]] // some servers keep a comment behind the body, and some do not
			all[i] = statement[:at[4]] + "  COMMENT " + Literal(signature+routineSum(s.Database, statement[at[2]:at[3]], body)) + "\n" + body
		}
	}
	return all
}

// signedIndexes adds signatures to the indexes that a statement defines on a table.
func signedIndexes(database, table, statement string) string {
	return createsIndex.ReplaceAllStringFunc(statement, func(index string) string {
		part := createsIndex.FindStringSubmatch(index)
		var columns []string
		for _, c := range strings.Split(part[3], ",") {
			columns = append(columns, strings.Trim(strings.TrimSpace(c), "`"))
		}
		return index + " COMMENT " + Literal(signature+indexSum(database, table, indexOf(part[2], part[1] != "", columns)))
	})
}

func tableSum(database, name string, definition []string) string {
	if churned := strings.TrimPrefix(name, churnPrefix); churned != name && strings.Trim(churned, "0123456789") == "" {
		name = churnPrefix // each has a separate number
	}
	return marker.Sum(append([]string{"table", database, name}, definition...)...)
}

const churnPrefix = "fw_churn_"

func indexSum(database, table, index string) string {
	return marker.Sum("index", database, table, index)
}

func routineSum(database, name, body string) string {
	return marker.Sum("procedure", database, name, strings.Join(strings.Fields(body), " "))
}

// Thing is an object in a database.
type Thing struct {
	kind, name, comment string
	definition          []string // of a table: columns, then the primary key; of an index: the index and its table
	body                string   // of a procedure
}

// Own reports whether Filewise has created the object in that database and nothing has changed it.
func (t Thing) Own(database string) bool {
	name := strings.ToLower(t.name) // a server may keep names in either case
	switch t.kind {
	case "table":
		return t.comment == signature+tableSum(database, name, t.definition) ||
			t.comment == signature1+tableSum(database, name, t.columns())
	case "index":
		return t.comment == signature+indexSum(database, strings.ToLower(t.definition[1]), t.definition[0])
	case "procedure":
		sum := routineSum(database, name, t.body)
		return t.comment == signature+sum || t.comment == signature1+sum
	}
	return false
}

// String returns the object's kind and name.
func (t Thing) String() string {
	if len(t.definition) == 2 && t.kind == "index" {
		return t.kind + " " + t.name + " of table " + t.definition[1]
	}
	return t.kind + " " + t.name
}

// Is reports whether the object is a table with this name and exactly the columns and key in definitions.
func (t Thing) Is(name, definitions string) bool {
	return t.kind == "table" && strings.EqualFold(t.name, name) && slices.Equal(t.definition, defined(definitions))
}
