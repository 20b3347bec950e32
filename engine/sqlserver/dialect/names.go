package dialect

import (
	"cmp"
	"fmt"
	"strings"

	"filewise"
)

// Ident quotes a name as QUOTENAME does: in brackets, with closing brackets doubled.
func Ident(name string) string { return "[" + strings.ReplaceAll(name, "]", "]]") + "]" }

// Literal quotes a text. A backslash before a line's end would continue the line ("Backslash (Line Continuation)"), so
// Literal divides the text there.
func Literal(text string) string {
	text = strings.ReplaceAll(text, "'", "''")
	text = strings.ReplaceAll(text, "\\\r\n", "\\' + N'\r\n")
	text = strings.ReplaceAll(text, "\\\n", "\\' + N'\n")
	return "N'" + text + "'"
}

// DefaultPort is the server's default port.
const DefaultPort = 1433

// Client returns the command of sqlcmd, the server's own client, which stops at the first error.
func Client(a filewise.Address) []string {
	at := cmp.Or(a.Host, "localhost")
	switch {
	case a.Port > 0 && a.Port != DefaultPort:
		at += fmt.Sprintf(",%d", a.Port)
	case a.Path != "":
		at += `\` + a.Path
	}
	as := []string{"-E"}
	if a.User != "" {
		as = []string{"-U", a.User}
	}
	return append([]string{"sqlcmd", "-b", "-I", "-S", at}, as...)
}
