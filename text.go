package filewise

import (
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"unicode"
)

// shell identifies a program that reads commands.
type shell int

const (
	shellSh shell = iota
	shellCmd
	shellPowerShell
)

// CommandLine returns a command as a user types it. If a form exists that sh, cmd and PowerShell read the same way, it returns
// that form. Otherwise it returns the form for the shell that started this process.
func CommandLine(args ...string) string {
	in := shellSh
	if runtime.GOOS == "windows" {
		if in = shellPowerShell; os.Getenv("PROMPT") != "" { // cmd has it in its environment
			in = shellCmd
		}
	}
	return strings.Join(Each(args, in.word), " ")
}

// LiteralQuotes reports whether an argument, or a flag's value, begins with a '. Shells remove it, but cmd passes it on.
func LiteralQuotes(args []string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		if strings.HasPrefix(arg, "-") {
			_, arg, _ = strings.Cut(arg, "=")
		}
		return strings.HasPrefix(arg, "'")
	})
}

// inner and last match the backslashes that Windows reads as escapes, before a quote inside the word and before the
// closing one.
var inner, last = regexp.MustCompile(`(\\*)"`), regexp.MustCompile(`(\\+)$`)

// word returns an argument quoted so that the shell reads it back.
func (s shell) word(arg string) string {
	// At the beginning of a word, PowerShell takes @ for an array's elements.
	if arg != "" && arg[0] != '@' && !strings.ContainsFunc(arg, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=,@%+", r))
	}) {
		return arg
	}
	// Within "", sh gives $ ` ! and \\ a meaning, and PowerShell $ and `. A \ before the last " would escape it in all
	// shells.
	double := `"` + last.ReplaceAllString(inner.ReplaceAllString(arg, `$1$1\"`), "$1$1") + `"`
	switch {
	case !strings.ContainsAny(arg, "\"$`!") && !strings.Contains(arg, `\\`):
		return double
	case s == shellSh:
		return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
	case s == shellPowerShell && strings.ContainsAny(arg, "\"$`"):
		return "'" + strings.NewReplacer("'", "''", `"`, `\"`).Replace(arg) + "'"
	}
	return double
}

// Printable returns the text on one line, with U+FFFD for each control character.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}
