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

// asterisks stand for what an excerpt does not show.
const asterisks = "********"

var (
	// address is a URL, of a server or of a webhook, and what stands behind it: its
	// password may hold a space.
	address = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)\S.*`)
	// setting is a key, or NAME=, with what stands behind it; of two words if it is mistyped.
	setting = regexp.MustCompile(`([\w.-]+(?:[ \t]+[\w.-]+)?)["']?\s*[:=]`)
	// inSQL matches a password in SQL, and literal one that stands in plain text.
	inSQL   = regexp.MustCompile(givesPassword + `[^\s$].*`)
	literal = regexp.MustCompile(givesPassword + `['"]([^'"]+)`)
	// entry is a line that begins something new, whatever stands above it.
	entry = regexp.MustCompile(`^\s*(?:-\s|-$|["']?[\w.-]+["']?\s*:(?:\s|$))`)
)

// masked returns the lines of a file without what may be secret in them: URLs, and what stands behind or below a key
// that is one by its name. It hides too much rather than too little: ${NAME} alone is known to be none.
func masked(lines []string) []string {
	out := make([]string, len(lines))
	below := -1 // the indentation of a secret key whose value may go on
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
		if said := strings.TrimSpace(line[value:]); said != "" && variable.ReplaceAllString(said, "") != "" {
			out[i] = line[:value] + " " + asterisks
		}
	}
	return out
}

// Plain are secrets that stand in a study's text, or in a script of it, wherever that is: in comments
// and SQL, too, of which nothing is replaced by variables.
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

// secretIn finds a key that is a secret by its name in a line: its begin, and the begin of what follows it. -1 means
// there is none.
func secretIn(line string) (key, value int) {
	for _, at := range setting.FindAllStringSubmatchIndex(line, -1) {
		if name := line[at[2]:at[3]]; name == "notify" || target.IsSecret(name) {
			return len(line) - len(strings.TrimLeft(line, " \t-")), at[1]
		}
	}
	return -1, 0
}

// Outcome is the outcome of one experiment of a study.
type Outcome struct {
	Name    string `json:"name"`
	Run     int64  `json:"run,omitempty"` // of the store. 0 means it did not come to one
	Verdict string `json:"verdict,omitempty"`
	Error   string `json:"error,omitempty"`
	// Skipped: it was not begun, because the one before was interrupted.
	Skipped bool `json:"skipped,omitempty"`
	// Result is the command's output for one run.
	Result json.RawMessage `json:"result,omitempty"`
}

// Ended is a study that has been run.
type Ended struct {
	Experiments []Outcome `json:"experiments"`
}

// Summary returns the experiments' outcomes, a line each.
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
