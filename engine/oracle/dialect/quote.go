// Package dialect holds Oracle's words: names, literals, and places of datafiles.
package dialect

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxIdent is the longest name, in bytes, that every supported server accepts with any COMPATIBLE setting.
const MaxIdent = 30

// Ident quotes a name. Oracle cannot write a double quote within a quoted name, so Ident refuses it, and other
// characters that a name cannot have.
func Ident(name string) (string, error) {
	if len(name) > MaxIdent {
		return "", fmt.Errorf("%q cannot be a name on Oracle", name)
	}
	return Name(name)
}

// Name quotes a user's name, which can have up to 128 bytes.
func Name(name string) (string, error) {
	if name == "" || len(name) > 128 || strings.ContainsAny(name, "\"\x00") || strings.ContainsFunc(name, control) ||
		!utf8.ValidString(name) {
		return "", fmt.Errorf("%q cannot be a name on Oracle", name)
	}
	return `"` + name + `"`, nil
}

// Literal quotes a text. It doubles single quotes; nothing else is special. It refuses control characters, because a
// statement ends at a line's end.
func Literal(text string) (string, error) {
	if strings.ContainsFunc(text, control) || !utf8.ValidString(text) {
		return "", fmt.Errorf("%q holds what cannot stand in a literal", text)
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'", nil
}

func control(r rune) bool { return r < ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029 }
