package filewise

import (
	"os"
	"regexp"
	"runtime"
	"strings"
	"unicode"
)

// shell is a program that takes commands.
type shell int

const (
	shellSh shell = iota
	shellCmd
	shellPowerShell
)

// CommandLine is a command as a user types it. The form is one that sh, cmd and PowerShell read the same way if there
// is one, else the form of the shell from which this process was started.
func CommandLine(args ...string) string {
	in := shellSh
	if runtime.GOOS == "windows" {
		if in = shellPowerShell; os.Getenv("PROMPT") != "" { // cmd has it in its environment
			in = shellCmd
		}
	}
	return strings.Join(Each(args, in.word), " ")
}

// inner and last are the backslashes that Windows reads as escapes: those before a quote.
var inner, last = regexp.MustCompile(`(\\*)"`), regexp.MustCompile(`(\\+)$`)

// word is an argument as the shell reads it back.
func (s shell) word(arg string) string {
	// PowerShell takes @ at a word's beginning for an array's elements.
	if arg != "" && arg[0] != '@' && !strings.ContainsFunc(arg, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=,@%+", r))
	}) {
		return arg
	}
	// Within "", sh reads $ ` ! and \\ otherwise, PowerShell $ and `; a \ before the last " would escape it for all.
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
