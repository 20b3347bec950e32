package filewise

import (
	"slices"
	"strings"
)

// Need is a right that an account needs on an external server.
type Need struct {
	Right string `json:"right"`
	Grant string `json:"grant"` // the statement that gives it to account filewise
	// Commands do not work without it; "run NAME" is scenario NAME alone.
	Commands []string `json:"commands,omitempty"`
	// Parts are further commands that send data which needs them. They work without it, apart from what Without
	// names.
	Parts    []string `json:"parts,omitempty"`
	Without  string   `json:"without,omitempty"`
	Versions string   `json:"versions,omitempty"` // that have it. Empty means all
}

// Grants are the statements that give an account what is needed, once each.
func Grants(needs []Need) (all []string) {
	for _, n := range needs {
		if !slices.Contains(all, n.Grant) {
			all = append(all, n.Grant)
		}
	}
	return all
}

// NeedsOf are the needs of a command.
func NeedsOf(needs []Need, command string) (all []Need) {
	for _, n := range needs {
		if slices.Contains(n.Commands, command) || slices.Contains(n.Parts, command) {
			all = append(all, n)
		}
	}
	return all
}

// NeedsTable is a Markdown table of needs, a row each.
func NeedsTable(needs []Need) string {
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
