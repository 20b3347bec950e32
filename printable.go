package filewise

import (
	"strings"
	"unicode"
)

// Printable is a text of which a terminal obeys nothing, and which ends no comment.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}
