package dialect

import (
	"context"
	"database/sql"
	"regexp"
	"slices"
	"strings"

	"filewise/engine/internal/mark"
)

// signature begins the comment of what Filewise has created in a database. The sum of that
// database's name, which is given once, and of the definition follows, so that neither a copy nor
// what was changed passes for it, nor what comes from another of Filewise's databases.
const signature = "Filewise: "

var (
	createsTable   = regexp.MustCompile("(?s)CREATE TABLE (?:`.*?`\\.)?`?(\\w+)`? \\((.*?)\\n?\\) ENGINE = InnoDB")
	createsRoutine = regexp.MustCompile("(?s)^CREATE PROCEDURE (?:`.*?`\\.)?`?(\\w+)`?\\(.*?\\n(BEGIN\\n.*\\nEND)")
)

// signed gives what statements create a signature.
func (s Schema) signed(all []string) []string {
	for i, statement := range all {
		if !s.Signed {
			break
		}
		if at := createsTable.FindStringSubmatchIndex(statement); at != nil {
			sign := tableSum(s.Database, statement[at[2]:at[3]], mark.Columns(statement[at[4]:at[5]]))
			all[i] = statement[:at[1]] + " COMMENT = " + Literal(signature+sign) + statement[at[1]:]
		} else if at := createsRoutine.FindStringSubmatchIndex(statement); at != nil {
			body := statement[at[4]:at[5]] // some servers keep a comment behind it, and some do not
			all[i] = statement[:at[4]] + "  COMMENT " + Literal(signature+routineSum(s.Database, statement[at[2]:at[3]], body)) + "\n" + body
		}
	}
	return all
}

func tableSum(database, name string, columns []string) string {
	if strings.HasPrefix(name, churnPrefix) { // each has a number of its own
		name = churnPrefix
	}
	return mark.Sum(append([]string{"table", database, name}, columns...)...)
}

const churnPrefix = "fw_churn_"

func routineSum(database, name, body string) string {
	return mark.Sum("procedure", database, name, strings.Join(strings.Fields(body), " "))
}

// Thing is something in a database.
type Thing struct {
	kind, name, comment string
	columns             []string // of a table
	body                string   // of a procedure
}

// Own tells whether Filewise has created it in that database, and nobody has changed it.
func (t Thing) Own(database string) bool {
	name := strings.ToLower(t.name) // a server may keep names in either case
	switch t.kind {
	case "table":
		return t.comment == signature+tableSum(database, name, t.columns)
	case "procedure":
		return t.comment == signature+routineSum(database, name, t.body)
	}
	return false
}

// String names it with its kind.
func (t Thing) String() string { return t.kind + " " + t.name }

// IsTable tells whether it is the table of that name, with these columns alone.
func (t Thing) IsTable(name string, columns ...string) bool {
	return t.kind == "table" && strings.EqualFold(t.name, name) && slices.Equal(t.columns, columns)
}

// Things is all that is in a database. A primary key that MySQL has made by itself is no
// column of anybody's.
func Things(ctx context.Context, db Queryer, database string) ([]Thing, error) {
	var all []Thing
	tables := map[string]int{}
	err := Each(ctx, db, func(scan Scan) error {
		var t Thing
		var body sql.NullString // of a procedure of another account
		err := scan(&t.kind, &t.name, &t.comment, &body)
		if t.body = body.String; t.kind == "table" {
			tables[t.name] = len(all)
		}
		all = append(all, t)
		return err
	}, `SELECT CASE TABLE_TYPE WHEN 'BASE TABLE' THEN 'table' ELSE LOWER(TABLE_TYPE) END, TABLE_NAME, TABLE_COMMENT, ''
  FROM information_schema.TABLES WHERE TABLE_SCHEMA = ?
UNION ALL SELECT LOWER(ROUTINE_TYPE), ROUTINE_NAME, ROUTINE_COMMENT, ROUTINE_DEFINITION
  FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = ?
UNION ALL SELECT 'event', EVENT_NAME, '', '' FROM information_schema.EVENTS WHERE EVENT_SCHEMA = ?
UNION ALL SELECT 'trigger', TRIGGER_NAME, '', '' FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = ?`,
		database, database, database, database)
	if err != nil || len(tables) == 0 {
		return all, err
	}
	return all, Each(ctx, db, func(scan Scan) error {
		var table, column string
		err := scan(&table, &column)
		if i, there := tables[table]; there {
			all[i].columns = append(all[i].columns, column)
		}
		return err
	}, `SELECT TABLE_NAME, COLUMN_NAME FROM information_schema.COLUMNS
 WHERE TABLE_SCHEMA = ? AND NOT (COLUMN_NAME = 'my_row_id' AND EXTRA LIKE '%INVISIBLE%') ORDER BY TABLE_NAME, ORDINAL_POSITION`, database)
}
