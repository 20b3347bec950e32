package study

import (
	"encoding/json"
	"fmt"
	"strings"

	"filewise"
)

// Outcome is what became of one experiment of a study.
type Outcome struct {
	Name    string `json:"name"`
	Run     int64  `json:"run,omitempty"` // of the store; 0: it did not come to one
	Verdict string `json:"verdict,omitempty"`
	Error   string `json:"error,omitempty"`
	// Skipped: it was not begun, because the one before was interrupted.
	Skipped bool `json:"skipped,omitempty"`
	// Result is what the command shows of one run.
	Result json.RawMessage `json:"result,omitempty"`
}

// Ended is a study that has been run.
type Ended struct {
	Experiments []Outcome `json:"experiments"`
}

// Summary is what the experiments came to, a line each.
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
