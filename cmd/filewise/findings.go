package main

import (
	"filewise"
	"filewise/preview"
)

// printFindings lists findings with what to do about each.
func printFindings(w *lineWriter, findings []filewise.Finding) {
	w.printf("%s", preview.Findings(findings))
}

// indent puts further lines of a text below its first.
func indent(text string, by int) string { return preview.Indent(text, by) }
