package main

import (
	"io"
	"os"

	"golang.org/x/term"
)

// terminal tells whether w is one, and how wide it is.
func terminal(w io.Writer) (width int, ok bool) {
	f, isFile := beneath(w).(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return 80, false
	}
	if width, _ = size(w); width <= 0 {
		width = 80
	}
	return width, true
}

// size is that of a terminal in columns and rows; 0: unknown.
func size(w io.Writer) (width, height int) {
	f, isFile := beneath(w).(*os.File)
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
