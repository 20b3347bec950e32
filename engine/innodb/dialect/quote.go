package dialect

import "strings"

// Ident quotes an identifier: backticks, those within doubled.
func Ident(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// Literal quotes a string for SQL that is executed with the usual sql_mode.
// Backslashes and quotes are escaped, so that no text ends the literal.
func Literal(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `''`, "\x00", `\0`, "\n", `\n`, "\r", `\r`, "\x1a", `\Z`).Replace(s) + "'"
}
