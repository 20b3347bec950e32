package filewise

import (
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// hidden is shown in place of a secret.
const hidden = "********"

// Secret is a password or another text that is never shown, stored or logged: every way of formatting it yields
// asterisks. Reveal returns the text.
type Secret string

// Reveal returns the secret's text, for the driver alone.
func (s Secret) Reveal() string { return string(s) }

// Format writes asterisks, whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return hidden
}

// LogValue returns the asterisks for slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText returns the asterisks for JSON and other encodings.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText sets an empty secret: a secret is never read from stored data.
func (s *Secret) UnmarshalText([]byte) error { *s = ""; return nil }

// Hide returns the text with asterisks in place of every secret, the longest first, since one may be part of another. A
// secret that could be a word, such as "lim", is hidden as a whole word only: "limit" stays. So do the name of an
// account and other words that are shown whatever the secret is (see shown). A secret of one or two bytes is hidden only
// at the place of a password.
func Hide(text string, secrets ...Secret) string {
	secrets = slices.Clone(secrets)
	slices.SortStableFunc(secrets, func(a, b Secret) int { return cmp.Compare(len(b), len(a)) })
	for _, s := range secrets {
		switch {
		case s == "":
		case len(s) < 3 || len(s) <= longestWord && !strings.ContainsFunc(string(s), func(r rune) bool { return !inWord(r) }):
			text = hideWord(text, string(s))
		default:
			text = strings.ReplaceAll(text, string(s), hidden)
		}
	}
	return text
}

// longestWord is the length, in bytes, up to which a secret of letters and digits can occur by chance in a text.
const longestWord = 15

func inWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

func hideWord(text, s string) string {
	var out strings.Builder
	from := 0
	for {
		at := strings.Index(text[from:], s)
		if at < 0 {
			return out.String() + text[from:]
		}
		at += from
		out.WriteString(text[from:at])
		from = at + len(s)
		if whole(text[:at], text[from:]) && !shown(text[:at], s, text[from:]) {
			out.WriteString(hidden)
		} else {
			out.WriteString(s)
		}
	}
}

// escaped matches the end of a text before a word that begins there although a letter precedes it: %3A, \n, \u0026, and
// the option -p of MySQL's programs.
var escaped = regexp.MustCompile(`(?:%[0-9A-Fa-f]{2}|\\(?:[abefnrtv0]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|[0-7]{3})|(?:^|[\s"'+])-[pP])$`)

// whole reports whether what is between two texts is a word, rather than part of one.
func whole(before, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	next, _ := utf8.DecodeRuneInString(after)
	return (!inWord(last) || escaped.MatchString(before[max(0, len(before)-6):])) && !inWord(next)
}

// quotes and separators can stand between a name and its value, also escaped.
const (
	quotes     = "(?:[\\\\\"'`({\\[]|%22|%27)*"
	separators = `(?:[\s=:+]|%3D|%3A)*`
)

var (
	// credential matches the end of a text before a password: password=, "pwd": ", IDENTIFIED BY, -p, or a URL's user.
	credential = regexp.MustCompile(`(?i)(?:passw(?:or)?d|passphrase|passwort|pwd|pass|secret|token|key|identified[ +]by)` +
		quotes + separators + quotes + `$|(?:://|%3A%2F%2F)[^\s/@]*?(?::|%3A)$|(?:^|[\s+])-p[\s+]?` + quotes + `$`)
	// named matches the end of a text before the password in a driver's or a program's form, ada:SECRET@ or ada/SECRET@.
	named = regexp.MustCompile(`[^\s/:](?:[:/]|%3A|%2F)` + quotes + `$`)
	at    = regexp.MustCompile(`^` + quotes + `(?:@|%40)`)

	// account matches the end of a text before the name of an account, and quote the quoted name in 'ada'@'%'.
	account = regexp.MustCompile(`(?:(?i:\b(?:user|username|user name|role|login|account|owner|member))` + quotes + separators + `|\bTO )` +
		quotes + `$|(?:postgres(?:ql)?|mysql|mariadb|sqlserver|mssql|oracle)://$`)
	quote  = regexp.MustCompile("[\"'`]$")
	quoted = regexp.MustCompile("^[\"'`]@")
)

// program is this program's name, which many messages contain.
const program = "filewise"

// shown reports whether a word between two texts stays, although it is the same as a secret: it is not at the place of a
// password, and is an account's name, a URL's scheme, an option's name, the program's name, or too short to look for.
func shown(before, word, after string) bool {
	before, after = before[max(0, len(before)-80):], after[:min(len(after), 8)]
	if credential.MatchString(before) || named.MatchString(before) && at.MatchString(after) {
		return false
	}
	return len(word) < 3 || word == program || account.MatchString(before) || quote.MatchString(before) && quoted.MatchString(after) ||
		strings.HasPrefix(after, "://") || strings.HasSuffix(before, "--")
}

// HideIn wraps an error, such as a driver's, so that its text shows no secret. errors.Is and errors.As still find the
// cause.
func HideIn(err error, secrets ...Secret) error {
	if err == nil {
		return nil
	}
	if text := err.Error(); Hide(text, secrets...) != text {
		return &masked{Hide(text, secrets...), err}
	}
	return err
}

type masked struct {
	text  string
	cause error
}

func (m *masked) Error() string { return m.text }
func (m *masked) Unwrap() error { return m.cause }
