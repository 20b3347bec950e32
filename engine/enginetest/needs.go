package enginetest

import (
	"os"
	"slices"
	"strings"
	"testing"

	"filewise"
)

// SameNeeds compares the rights that a command's statements take with the rights that the matrix lists for the
// command.
func SameNeeds(t testing.TB, needs []filewise.Need, command string, taken map[string]bool) {
	t.Helper()
	listed := map[string]bool{}
	for _, n := range needsOf(needs, command) {
		listed[n.Right] = true
		if !taken[n.Right] {
			t.Errorf("%s needs %s by the matrix, and sends nothing that takes it", command, n.Right)
		}
	}
	for right := range taken {
		if !listed[right] {
			t.Errorf("%s takes %s, which the matrix does not have", command, right)
		}
	}
}

// NeedsDocumented makes sure that a page shows the matrix, between a comment that names it and an empty line. With
// TEST_FILEWISE_UPDATE=1 it is written.
func NeedsDocumented(t testing.TB, page, engine string, needs []filewise.Need) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	mark := "<!-- rights of " + engine + " -->\n"
	before, rest, found := strings.Cut(string(text), mark)
	_, after, ends := strings.Cut(rest, "\n\n")
	if !found || !ends {
		t.Fatalf("%s has no %s", page, mark)
	}
	want := before + mark + needsTable(needs) + "\n" + after
	if want == string(text) {
		return
	}
	if os.Getenv("TEST_FILEWISE_UPDATE") != "1" {
		t.Fatalf("%s shows another matrix of rights of %s: TEST_FILEWISE_UPDATE=1 rewrites it", page, engine)
	}
	if err := os.WriteFile(page, []byte(want), 0o644); err != nil { //nolint:gosec // a page of the tree
		t.Fatal(err)
	}
}

// Without returns the rights except one.
func Without(rights []string, right string) []string {
	return slices.DeleteFunc(slices.Clone(rights), func(r string) bool { return r == right })
}

// RightsOf returns the rights that a command needs. If least is set, it leaves out rights that the command works without.
func RightsOf(needs []filewise.Need, command string, least bool) []string {
	all := []string{}
	for _, n := range needsOf(needs, command) {
		if !least || slices.Contains(n.Commands, command) {
			all = append(all, n.Right)
		}
	}
	return all
}

func needsOf(needs []filewise.Need, command string) (all []filewise.Need) {
	for _, n := range needs {
		if slices.Contains(n.Commands, command) || slices.Contains(n.Parts, command) {
			all = append(all, n)
		}
	}
	return all
}

// needsTable returns a Markdown table of needs, a row each.
func needsTable(needs []filewise.Need) string {
	var b strings.Builder
	b.WriteString("| right | do not work without it | have less without it | what they lack | versions |\n|---|---|---|---|---|\n")
	for _, n := range needs {
		versions := n.Versions
		if versions == "" {
			versions = "all"
		}
		b.WriteString("| " + strings.Join([]string{n.Right, strings.Join(n.Commands, ", "), strings.Join(n.Parts, ", "), n.Without, versions},
			" | ") + " |\n")
	}
	return b.String()
}
