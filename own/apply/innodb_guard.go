package apply

import (
	"fmt"
	"strings"

	"filewise/engine/innodb/dialect"
)

// innodbSettings are a script's own, whatever the server's are: tables keep zero dates and dates that do not exist,
// which a copy under the default sql_mode refuses.
const innodbSettings = "SET NAMES utf8mb4;\nSET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,ALLOW_INVALID_DATES';\n" +
	"SET SESSION lock_wait_timeout = 10;"

// fingerprint returns the expression for all of a table that a script was written by. Neither the name of its database
// nor how it lies on files is in it, so a copy has the same. What dumps write in another form, such as expressions, is left out.
func fingerprint(database, table string) string {
	// MariaDB finds one table's references by CONSTRAINT_SCHEMA with TABLE_NAME; other conditions open all tables of all databases.
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

// guard returns the statements that fail unless the selected database has the table as it is now: neither product has
// a condition outside of routines, so a column that does not exist carries the message.
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
