package sqlfile

import (
	"regexp"
	"strings"
	"sync"
)

// public holds the words of all SQL files, in small letters: they are in Filewise's sources. Texts wait for the first
// statement to be shown, since most commands show none.
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

// mostPublic bounds what Public returns, in bytes.
const mostPublic = 1000

var (
	word   = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)
	hidden = regexp.MustCompile(`(?s)--[^\n]*|/\*.*?(?:\*/|$)|'(?:[^']|'')*(?:'|$)|"[^"]*(?:"|$)|` + "`[^`]*(?:`|$)" +
		`|\[[^\]]*(?:\]|$)|[0-9][0-9A-Za-z_.]*|[^\x00-\x7f]+|[[:cntrl:] ]+`)
	masked = regexp.MustCompile(`\?(?:[ .,]*\?)+`)
)

// Public returns a statement as strangers can read it: of words only those that SQL files of Filewise have, without
// comments, and with ? for literals, quoted names and all else. Which dialect it is of does not matter: whatever is
// taken for code by mistake has to be such a word, too.
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
