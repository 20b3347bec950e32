package sqlfile

import (
	"regexp"
	"strings"
	"sync"
)

// public holds the words of all SQL files in lower case, which are in Filewise's sources anyway. The texts are read
// when a statement is first shown, since most commands show none.
var public = struct {
	sync.Mutex
	texts []string
	words map[string]bool
}{words: make(map[string]bool)}

// publish adds a file's text.
func publish(text string) {
	public.Lock()
	defer public.Unlock()
	public.texts = append(public.texts, text)
}

// isPublic reports whether an SQL file has the word.
func isPublic(w string) bool {
	public.Lock()
	defer public.Unlock()
	for _, text := range public.texts {
		for _, w := range word.FindAllString(text, -1) {
			public.words[strings.ToLower(w)] = true
		}
	}
	public.texts = nil
	return public.words[strings.ToLower(w)]
}

// mostPublic limits the length of Public's result, in bytes.
const mostPublic = 1000

var (
	word   = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)
	hidden = regexp.MustCompile(`(?s)--[^\n]*|/\*.*?(?:\*/|$)|'(?:[^']|'')*(?:'|$)|"[^"]*(?:"|$)|` + "`[^`]*(?:`|$)" +
		`|\[[^\]]*(?:\]|$)|[0-9][0-9A-Za-z_.]*|[^\x00-\x7f]+|[[:cntrl:] ]+`)
	masked = regexp.MustCompile(`\?(?:[ .,]*\?)+`)
)

// Public returns a statement in a form that strangers may read. It keeps only the words that Filewise's SQL files have,
// drops comments, and puts ? for literals, quoted names and everything else. The dialect does not matter: text that is
// mistaken for code must also consist of such words to be kept.
func Public(statement string) string {
	text := hidden.ReplaceAllStringFunc(statement, func(s string) string {
		switch {
		case strings.HasPrefix(s, "--"), strings.HasPrefix(s, "/*"), s[0] <= ' ':
			return " "
		}
		return "?"
	})
	text = word.ReplaceAllStringFunc(text, func(w string) string {
		if isPublic(w) {
			return w
		}
		return "?"
	})
	text = strings.TrimSpace(masked.ReplaceAllString(strings.Join(strings.Fields(text), " "), "?"))
	if len(text) > mostPublic {
		text = text[:mostPublic] + " …"
	}
	return text
}
