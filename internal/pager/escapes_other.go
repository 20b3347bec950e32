//go:build !windows

package pager

import "os"

// Escapes reports whether a terminal understands escapes; those that do not are TERM=dumb.
func Escapes(*os.File) bool { return true }
