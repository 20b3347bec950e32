// Package report renders one run for people and programs: the terminal,
// Markdown, JSON, and one self-contained HTML file. Everything comes from the
// stored data; the same data gives the same bytes. What was not measured is
// shown as absent, never as zero.
package report
