package filewise_test

import (
	"go/scanner"
	"go/token"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// habits are wordings to get rid of. The counts may only fall: lower them here when the log suggests it.
var habits = []struct {
	name                     string
	comments, strings, pages int
	pattern                  string
}{
	{"X is what, those, whether, how many", 2, 5, 4, `\b(is|are|was|were) (what|those|that which|whether|who|` +
		`how (many|much|long|often)|the ones? (of|that|which))\b|\b(tell|say)s? (whether|what|how|if)\b`},
	{"those of, that of", 2, 6, 1, `\b(those|that) of\b`},
	{"; nil: …", 3, 0, 0, `; (0|-1|nil|none|empty|""|NaN|zero|unset|absent|false|true):`},
	{"where for if", 14, 5, 1, `\bwhere (there|nothing|none|no|nobody|one|any|that|this|these|those|not|such|all|each|both|` +
		`[A-Z]\w+|(it|they|you|the \w+|an? \w+) (is|are|was|were|has|have|had|does|do|did|can|could|may|must|` +
		`holds?|knows?|says?|names?|needs?|allows?))\b`},
	{"tells, says, wants, knows, is asked", 13, 17, 3, `\b(tells?|told|says|said|wants?|wanted|knows?|knew|` +
		`(is|are|was|were|be) asked)\b`},
}

// Sentences above 35 words and names of tests in pages may only fall, too.
const longSentences, testNames = 0, 0

// contributors read these pages of docs, which may name tests.
var contributors = regexp.MustCompile(`design|adding-|releasing|unproven|testing|CONTRIBUTING`)

// TestHabitsFall: worse wording than today's must not come in.
func TestHabitsFall(t *testing.T) {
	var comments, literals strings.Builder
	for _, name := range tracked(t, "*.go") {
		quoted := &literals
		if strings.HasSuffix(name, "_test.go") { // its strings quote the program's
			quoted = new(strings.Builder)
		}
		text, _ := os.ReadFile(name) // it is there
		collect(text, &comments, quoted)
	}
	var pages strings.Builder
	long, names := 0, 0
	for _, name := range tracked(t, "docs/*.md", "README.md", "CONTRIBUTING.md") {
		if name == "docs/commands.md" { // made from strings
			continue
		}
		page, _ := os.ReadFile(name)
		text := regexp.MustCompile("(?ms)^```.*?^```").ReplaceAllString(string(page), "")
		if !contributors.MatchString(name) {
			names += len(regexp.MustCompile(`\bTest[A-Z]\w+`).FindAllString(text, -1))
		}
		text = regexp.MustCompile("`[^`]+`").ReplaceAllString(text, "code")
		pages.WriteString(text)
		prose := regexp.MustCompile(`(?m)^ *(#.*|\|.*|[-*] |\d+\. |> )`).ReplaceAllString(text, "\n\n")
		for _, sentence := range regexp.MustCompile(`[.:!?][)"*]*\s+|\n\s*\n`).Split(prose, -1) {
			if strings.HasPrefix(name, "docs/") && len(strings.Fields(sentence)) > 35 {
				long++
			}
		}
	}
	for _, habit := range habits {
		pattern := regexp.MustCompile(habit.pattern)
		count := func(text string) int { return len(pattern.FindAllStringIndex(text, -1)) }
		mayOnlyFall(t, habit.name+" (comments)", count(comments.String()), habit.comments)
		mayOnlyFall(t, habit.name+" (strings)", count(literals.String()), habit.strings)
		mayOnlyFall(t, habit.name+" (pages)", count(pages.String()), habit.pages)
	}
	mayOnlyFall(t, "sentences above 35 words in docs", long, longSentences)
	mayOnlyFall(t, "names of tests in pages for users", names, testNames)
}

// mayOnlyFall fails if a count is above its figure, and logs (go test -v) a figure that is too high.
func mayOnlyFall(t *testing.T, what string, count, most int) {
	t.Helper()
	switch {
	case count > most:
		t.Errorf("%s: %d places, of at most %d: word what you added as the writing rules ask (CONTRIBUTING.md)", what, count, most)
	case count < most-3:
		t.Logf("%s: %d places, of at most %d: lower it to %d", what, count, most, count)
	}
}

// tracked returns the files of the checkout that match the patterns of git, apart from those just deleted.
func tracked(t *testing.T, patterns ...string) []string {
	out, err := exec.CommandContext(t.Context(), "git", append([]string{"ls-files", "-z", "--"}, patterns...)...).Output()
	if err != nil {
		t.Skipf("not a checkout: %v", err)
	}
	return slices.DeleteFunc(strings.Split(string(out), "\x00"), func(name string) bool {
		_, err := os.Stat(name)
		return name == "" || err != nil
	})
}

// collect adds the comments and the strings of a Go file, each comment block on one line.
func collect(text []byte, comments, literals *strings.Builder) {
	var scan scanner.Scanner
	files := token.NewFileSet()
	scan.Init(files.AddFile("", files.Base(), len(text)), text, nil, scanner.ScanComments)
	for ended := true; ; {
		switch _, kind, literal := scan.Scan(); kind {
		case token.EOF:
			return
		case token.COMMENT:
			comments.WriteString(strings.TrimPrefix(literal, "//"))
			ended = false
		case token.STRING:
			literals.WriteString(literal + "\n")
		default:
			if !ended {
				comments.WriteByte('\n')
			}
			ended = true
		}
	}
}
