//go:build !windows

package pager

import (
	"io"
	"os"
)

// Escapes returns true: terminals that understand no escapes have TERM=dumb.
func Escapes(*os.File) bool { return true }

// ForPipe returns w, as pipes take UTF-8.
func ForPipe(w io.Writer) io.Writer { return w }
