package filewise_test

import (
	"go/scanner"
	"go/token"
	"os"
	"os/exec"
	"path"
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
	{"X is what, those, whether, how many", 640, 46, 53, `\b(is|are|was|were) (what|those|that which|whether|who|` +
		`how (many|much|long|often)|the ones? (of|that|which))\b|\b(tell|say)s? (whether|what|how|if)\b`},
	{"those of, that of", 225, 60, 40, `\b(those|that) of\b`},
	{"; nil: …", 230, 9, 0, `; (0|-1|nil|none|empty|""|NaN|zero|unset|absent|false|true):`},
	{"where for if", 195, 48, 43, `\bwhere (there|nothing|none|no|nobody|one|any|that|this|these|those|not|such|all|each|both|` +
		`[A-Z]\w+|(it|they|you|the \w+|an? \w+) (is|are|was|were|has|have|had|does|do|did|can|could|may|must|` +
		`holds?|knows?|says?|names?|needs?|allows?))\b`},
	{"tells, says, wants, knows, is asked", 900, 260, 195, `\b(tells?|told|says|said|wants?|wanted|knows?|knew|` +
		`(is|are|was|were|be) asked)\b`},
}

// longSentences and testNames are counts of the pages that may only fall, too.
const (
	longestSentence          = 35 // words
	longSentences, testNames = 54, 58
)

// contributors read these pages of docs, which may name tests.
var contributors = []string{"design", "adding-an-engine", "adding-a-workload", "releasing", "unproven", "testing"}

// TestHabitsFall: worse wording than today's must not come in.
func TestHabitsFall(t *testing.T) {
	var comments, literals strings.Builder
	for _, name := range tracked(t, "*.go") {
		comment, literal := words(t, name)
		comments.WriteString(comment)
		if !strings.HasSuffix(name, "_test.go") { // a test's strings quote the program's
			literals.WriteString(literal)
		}
	}
	var pages strings.Builder
	long, names := 0, 0
	for _, name := range tracked(t, "docs/*.md", "README.md", "CONTRIBUTING.md") {
		if name == "docs/commands.md" { // made from strings
			continue
		}
		page, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text := regexp.MustCompile("(?ms)^```.*?^```").ReplaceAllString(string(page), "")
		if stem := strings.TrimSuffix(path.Base(name), ".md"); path.Dir(name) == "docs" && !slices.Contains(contributors, stem) {
			names += len(regexp.MustCompile(`\bTest[A-Z]\w+`).FindAllString(text, -1))
		}
		text = regexp.MustCompile("`[^`]+`").ReplaceAllString(text, "code")
		pages.WriteString(text)
		prose := regexp.MustCompile(`(?m)^ *(#.*|\|.*|[-*] |\d+\. |> )`).ReplaceAllString(text, "\n\n")
		for _, sentence := range regexp.MustCompile(`[.:!?][)"*]*\s+|\n\s*\n`).Split(prose, -1) {
			if path.Dir(name) == "docs" && len(strings.Fields(sentence)) > longestSentence {
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

// words returns the comments and the strings of a Go file, each comment block on one line.
func words(t *testing.T, name string) (comments, literals string) {
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var scan scanner.Scanner
	files := token.NewFileSet()
	scan.Init(files.AddFile(name, files.Base(), len(text)), text, nil, scanner.ScanComments)
	for {
		switch _, kind, literal := scan.Scan(); kind {
		case token.EOF:
			return comments + "\n", literals
		case token.COMMENT:
			comments += strings.TrimPrefix(literal, "//")
		case token.STRING:
			literals += literal + "\n"
		default:
			comments = strings.TrimSuffix(comments, "\n") + "\n"
		}
	}
}
