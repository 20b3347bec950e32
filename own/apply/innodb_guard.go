package apply

import (
	"fmt"
	"strings"

	"filewise/engine/innodb/dialect"
)

// innodbSettings sets a script's character set and sql_mode, whatever the server's are. Tables keep zero dates and
// invalid dates, which a copy under the default sql_mode refuses.
const innodbSettings = "SET NAMES utf8mb4;\nSET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,ALLOW_INVALID_DATES';\n" +
	"SET SESSION lock_wait_timeout = 10;"

// fingerprint returns an SQL expression over the parts of a table's definition that the script depends on. It leaves
// out the database's name and the files, so that a copy has the same fingerprint. It also leaves out what dumps write
// differently, such as expressions.
func fingerprint(database, table string) string {
	// If the condition is CONSTRAINT_SCHEMA with TABLE_NAME, MariaDB opens this table alone. Under other conditions it
	// opens all tables of all databases.
	sum := func(from, columns string) string {
		return fmt.Sprintf("(SELECT CONCAT_WS(',', COUNT(*), SUM(CAST(CONV(LEFT(MD5(CONCAT_WS('|', %s)), 12), 16, 10) AS UNSIGNED)))\n"+
			"    FROM information_schema.%s WHERE %s = %s AND TABLE_NAME = %s)", columns, from,
			map[bool]string{true: "CONSTRAINT_SCHEMA", false: "TABLE_SCHEMA"}[from == "REFERENTIAL_CONSTRAINTS"], database, table)
	}
	return "MD5(CONCAT_WS('/',\n  " + strings.Join([]string{
		sum("TABLES", "ENGINE, TABLE_COLLATION"),
		sum("COLUMNS", "ORDINAL_POSITION, COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE, COLLATION_NAME"),
		sum("STATISTICS", "INDEX_NAME, SEQ_IN_INDEX, COLUMN_NAME, SUB_PART, NON_UNIQUE, INDEX_TYPE"),
		sum("REFERENTIAL_CONSTRAINTS", "CONSTRAINT_NAME, REFERENCED_TABLE_NAME, UPDATE_RULE, DELETE_RULE"),
	}, ",\n  ") + "))"
}

// guard returns the statements that fail unless the selected database has the table as it is now. Neither MariaDB nor
// MySQL has conditions outside of routines, so the name of a missing column carries the message.
func (m *innodb) guard(t *userTable) (string, error) {
	now := ""
	rows, err := m.in.Rows(m.ctx, "fingerprint", map[string]any{"Sum": fingerprint("?", "?")},
		t.Schema, t.Name, t.Schema, t.Name, t.Schema, t.Name, t.Schema, t.Name)
	for _, r := range rows {
		now = r.Text(0)
	}
	stop := func(why string) string { return dialect.Literal("DO " + dialect.Ident(why)) }
	return "SET @filewise_guard = CASE WHEN DATABASE() IS NULL THEN " + stop("no database is selected: name one in the command") +
		"\n  WHEN " + fingerprint("DATABASE()", dialect.Literal(t.Name)) + " = " + dialect.Literal(now) + " THEN 'DO 0'\n  ELSE " +
		stop("table "+t.Name+": not as it was when this script was written") + " END;\nPREPARE filewise_guard FROM @filewise_guard;\n" +
		"EXECUTE filewise_guard;\nDEALLOCATE PREPARE filewise_guard;", err
}
