package pager

import (
	"os"

	"golang.org/x/sys/windows"
)

// Escapes has a console understand escapes, and reports whether it does: before Windows 10 none does.
func Escapes(f *os.File) bool {
	var mode uint32
	h := windows.Handle(f.Fd())
	if err := windows.GetConsoleMode(h, &mode); err != nil {
		return false
	}
	return windows.SetConsoleMode(h, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
