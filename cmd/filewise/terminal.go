package main

import (
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"filewise/internal/help"
	"filewise/internal/pager"
)

// terminal tells whether w is one, and how wide it is.
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

// onTerminal is a text in lines that fit on the terminal, if w is one.
func onTerminal(w io.Writer, text string) string {
	if width, ok := terminal(w); ok {
		return help.Fold(text, width)
	}
	return text
}

// fileOf is the file that is written to at last.
func fileOf(w io.Writer) (*os.File, bool) {
	w = beneath(w)
	if p, ok := w.(*pager.Pager); ok {
		return p.Screen, true
	}
	f, ok := w.(*os.File)
	return f, ok
}

// unpaged are the commands that show how something goes on, or ask: their output is not held back.
var unpaged = []string{"run", "resume", "serve", "stop", "clean"}

// pageable tells the pager whether a command's output is for it.
func (a *app) pageable(cmd *cobra.Command) error {
	if p, ok := beneath(a.stdout).(*pager.Pager); ok && slices.Contains(unpaged, cmd.Name()) {
		return p.Off()
	}
	return nil
}

// paged shows what the pager has, to its end.
func (a *app) paged() error {
	if p, ok := beneath(a.stdout).(*pager.Pager); ok {
		return p.Close()
	}
	return nil
}

// size is that of a terminal in columns and rows; 0: unknown.
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

// coloured tells whether to use colour on w.
func coloured(w io.Writer) bool {
	_, ok := terminal(w)
	return ok && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}
