package main

import (
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"filewise/internal/help"
	"filewise/internal/pager"
	"filewise/results/report/document"
)

// terminal reports whether w is a terminal, and returns its width.
func terminal(w io.Writer) (width int, ok bool) {
	f, isFile := fileOf(w)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return 80, false
	}
	if width, _ = size(w); width <= 0 {
		width = 80
	}
	return width, true
}

// onTerminal wraps a text to the terminal's width, if w is a terminal.
func onTerminal(w io.Writer, text string) string {
	if width, ok := terminal(w); ok {
		return help.Fold(text, width)
	}
	return text
}

// fileOf returns the file to which w writes in the end.
func fileOf(w io.Writer) (*os.File, bool) {
	w = beneath(w)
	if p, ok := w.(*pager.Pager); ok {
		return p.Screen, true
	}
	f, ok := w.(*os.File)
	return f, ok
}

// unpaged lists the commands that show progress, or ask questions: their output must not be held back.
var unpaged = []string{"run", "resume", "serve", "stop", "clean"}

// pageable sets whether a command's output goes to the pager.
func (a *app) pageable(cmd *cobra.Command) error {
	if p, ok := beneath(a.stdout).(*pager.Pager); ok && slices.Contains(unpaged, cmd.Name()) {
		return p.Off()
	}
	return nil
}

// paged shows everything that the pager holds.
func (a *app) paged() error {
	if p, ok := beneath(a.stdout).(*pager.Pager); ok {
		return p.Close()
	}
	return nil
}

// size returns a terminal's size in columns and rows. 0 means unknown.
func size(w io.Writer) (width, height int) {
	f, isFile := fileOf(w)
	if !isFile {
		return 0, 0
	}
	width, height, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0, 0
	}
	return width, height
}

func coloured(w io.Writer) bool { return steered(w) && os.Getenv("NO_COLOR") == "" }

// steered reports whether w is a terminal that understands escapes.
func steered(w io.Writer) bool {
	f, ok := fileOf(w)
	return ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb" && pager.Escapes(f)
}

// forPeople returns standard output in the form for people. Output for programs, such as CSV and bundles, does not go
// through it.
func (a *app) forPeople(w io.Writer) io.Writer {
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return &document.Readable{To: &pager.Pager{Screen: f, No: &a.noPager, Size: func() (int, int) { return size(f) }},
			Before: func(text []byte) { a.board.Before(text, true) }}
	}
	return pager.ForPipe(w)
}

// beneath returns the writer below, for callers that clean their texts and steer the terminal themselves.
func beneath(w io.Writer) io.Writer {
	if r, ok := w.(*document.Readable); ok {
		return r.To
	}
	return w
}
