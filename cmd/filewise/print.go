package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"

	"filewise"
	"filewise/internal/filesystem"
	"filewise/internal/pager"
	"filewise/results/report/document"
)

// lineWriter prints text for people in lines as wide as the terminal. It stops at the first error, and keeps the error.
type lineWriter struct {
	w   io.Writer
	err error
}

func (l *lineWriter) printf(format string, args ...any) {
	if l.err == nil {
		_, l.err = io.WriteString(l.w, onTerminal(l.w, document.Harmless(fmt.Sprintf(format, args...))))
	}
}

// print writes a result to stdout: v as JSON, or its text.
func (a *app) print(v any, text func(*lineWriter)) error {
	if a.json {
		return a.printJSON(v)
	}
	w := &lineWriter{w: a.stdout}
	text(w)
	return w.err
}

// printJSON writes v as JSON, for --json.
func (a *app) printJSON(v any) error { return writeJSON(pager.JSON(a.stdout), v) }

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return nil
}

// write renders to --output, which is a file or standard output.
func (a *app) write(output string, render func(io.Writer) error) error {
	if output == "" || output == "-" {
		return render(pager.Raw(a.stdout))
	}
	if a.isStore(output) {
		return filewise.Errorf(filewise.CodeUsage, "name another file with --output",
			"%s is the store with your results, and is not written over", output)
	}
	if err := filesystem.WriteFile(output, render); err != nil {
		return filewise.Errorf(filewise.CodeUsage, filesystem.NotWritten(err), "write %s: %w", output, err)
	}
	_, err := fmt.Fprintf(a.stderr, "wrote %s\n", output)
	return err
}

// isStore reports whether a file is the store, or one of the files that SQLite keeps next to it.
func (a *app) isStore(file string) bool {
	path, err := a.pathOfStore()
	info, statErr := os.Stat(file)
	return err == nil && statErr == nil && slices.ContainsFunc([]string{"", "-wal", "-shm", "-journal"}, func(suffix string) bool {
		of, err := os.Stat(path + suffix)
		return err == nil && os.SameFile(of, info)
	})
}
