package study

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"filewise"
	"filewise/host/target"
	"filewise/watch/notify"
)

// givesPassword matches the text before a password in SQL.
const givesPassword = `(?i)(\b(?:identified\s+(?:with\s+\S+\s+)?(?:by|as)|password)\s+)`

// asterisks replace what an excerpt hides.
const asterisks = "********"

var (
	// address matches a URL, of a server or a webhook, with the rest of the line, since its password may contain a space.
	address = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)\S.*`)
	// setting matches a key, or NAME=. A mistyped key may consist of two words.
	setting = regexp.MustCompile(`([\w.-]+(?:[ \t]+[\w.-]+)?)["']?\s*[:=]`)
	// inSQL matches a password in SQL. literal matches a password in plain text.
	inSQL   = regexp.MustCompile(givesPassword + `[^\s$].*`)
	literal = regexp.MustCompile(givesPassword + `['"]([^'"]+)`)
	// entry matches a line that begins something new, whatever comes before it.
	entry = regexp.MustCompile(`^\s*(?:-\s|-$|["']?[\w.-]+["']?\s*:(?:\s|$))`)
)

// masked returns the lines of a file with possible secrets hidden: URLs, and text after or below a key whose name means
// a secret. When in doubt it hides text; only ${NAME} is known to be no secret.
func masked(lines []string) []string {
	out := make([]string, len(lines))
	below := -1 // indentation of a secret key whose value may continue
	for i, line := range lines {
		indent := len(line) - len(strings.TrimLeft(line, " \t-"))
		if below >= 0 && strings.TrimSpace(line) != "" {
			if indent > below || !entry.MatchString(line) {
				out[i] = line[:indent] + asterisks
				continue
			}
			below = -1
		}
		line = inSQL.ReplaceAllString(address.ReplaceAllString(line, "$1"+asterisks), "$1"+asterisks)
		out[i] = line
		key, value := secretIn(line)
		if key < 0 {
			continue
		}
		below = key
		if text := strings.TrimSpace(line[value:]); text != "" && variable.ReplaceAllString(text, "") != "" {
			out[i] = line[:value] + " " + asterisks
		}
	}
	return out
}

// Plain returns secrets that are written in a study or in one of its scripts, wherever they are. It also searches
// comments and SQL, in which no variables are replaced.
func Plain(text string) (found []filewise.Secret) {
	for line := range strings.Lines(text) {
		line = variable.ReplaceAllString(line, "")
		for _, at := range literal.FindAllStringSubmatch(line, -1) {
			found = append(found, filewise.Secret(at[2]))
		}
		for _, word := range strings.FieldsFunc(line, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`"'[],`, r) }) {
			found = append(found, target.SecretsIn(word)...)
			if strings.Contains(line, "notify") {
				found = append(found, notify.SecretsIn(word)...)
			}
		}
	}
	return found
}

// secretIn finds in a line a key whose name means a secret. It returns the beginnings of the key and of the text after
// it. A key of -1 means there is none.
func secretIn(line string) (key, value int) {
	for _, at := range setting.FindAllStringSubmatchIndex(line, -1) {
		if name := line[at[2]:at[3]]; name == "notify" || target.IsSecret(name) {
			return len(line) - len(strings.TrimLeft(line, " \t-")), at[1]
		}
	}
	return -1, 0
}

// Outcome is the result of one experiment of a study.
type Outcome struct {
	Name    string `json:"name"`
	Run     int64  `json:"run,omitempty"` // in the store. 0 means it did not become one
	Verdict string `json:"verdict,omitempty"`
	Error   string `json:"error,omitempty"`
	// Skipped reports that the experiment was not begun, because an earlier one was interrupted.
	Skipped bool `json:"skipped,omitempty"`
	// Result is the command's output for one run.
	Result json.RawMessage `json:"result,omitempty"`
}

// Ended holds the outcomes of a study.
type Ended struct {
	Experiments []Outcome `json:"experiments"`
}

// Summary returns the outcomes, one line for each experiment.
func Summary(all []Outcome) string {
	width := 0
	for _, r := range all {
		width = max(width, min(len([]rune(r.Name)), 40))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\nSummary of %s\n", filewise.Counted(len(all), "experiment"))
	for _, r := range all {
		words := r.Verdict
		switch {
		case r.Skipped:
			words = "not begun"
		case r.Error != "" && r.Verdict == "":
			line, _, _ := strings.Cut(r.Error, "\n")
			words = "failed: " + line
		case r.Error != "":
			words += " (ended early)"
		}
		run := "      –"
		if r.Run > 0 {
			run = fmt.Sprintf("run %3d", r.Run)
		}
		fmt.Fprintf(&b, "  %-*s  %s  %s\n", width, r.Name, run, words)
	}
	return b.String()
}
