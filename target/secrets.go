package target

import (
	"net/url"
	"strings"

	"filewise"
)

// SecretsIn finds what may be a secret in any text that looks like a URL, also in
// one that cannot be parsed: for masking what is printed. It errs on the side of
// hiding too much.
func SecretsIn(text string) []filewise.Secret {
	_, rest, ok := strings.Cut(text, "://")
	if !ok {
		return nil
	}
	var found []filewise.Secret
	add := func(s string) {
		if len(s) < 3 {
			return
		}
		found = append(found, filewise.Secret(s))
		if decoded, err := url.QueryUnescape(s); err == nil && decoded != s {
			found = append(found, filewise.Secret(decoded))
		}
		if decoded, err := url.PathUnescape(s); err == nil && decoded != s {
			found = append(found, filewise.Secret(decoded))
		}
	}
	// A password may hold any of / ? # @ unescaped, so it may end at any @.
	if at := strings.LastIndex(rest, "@"); at >= 0 {
		if _, password, ok := strings.Cut(rest[:at], ":"); ok {
			add(password)
			for i := range password {
				if password[i] == '@' {
					add(password[:i])
				}
			}
		}
	}
	_, query, _ := strings.Cut(rest, "?")
	for pair := range strings.SplitSeq(query, "&") {
		if name, value, ok := strings.Cut(pair, "="); ok {
			if decoded, err := url.QueryUnescape(name); err == nil && IsSecret(decoded) {
				add(value)
			}
		}
	}
	return found
}
