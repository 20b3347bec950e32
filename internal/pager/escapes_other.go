//go:build !windows

package pager

import (
	"io"
	"os"
)

// Escapes reports whether a terminal understands escapes; those that do not are TERM=dumb.
func Escapes(*os.File) bool { return true }

// ForPipe is w: pipes have UTF-8.
func ForPipe(w io.Writer) io.Writer { return w }
