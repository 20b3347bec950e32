package pager

import (
	"io"
	"os"

	"golang.org/x/sys/windows"
)

// Escapes makes a console understand escapes, and reports whether it does. Before Windows 10 none does.
func Escapes(f *os.File) bool {
	var mode uint32
	h := windows.Handle(f.Fd())
	if err := windows.GetConsoleMode(h, &mode); err != nil {
		return false
	}
	return windows.SetConsoleMode(h, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}

// ForPipe returns a writer in the console's code page, for programs that read text in it. Files get UTF-8, and so do
// pipes if there is no console or it has UTF-8 (chcp 65001).
func ForPipe(w io.Writer) io.Writer {
	const utf8Page = 65001
	f, ok := w.(*os.File)
	if !ok {
		return w
	}
	page, err := windows.GetConsoleOutputCP()
	if kind, pipeErr := windows.GetFileType(windows.Handle(f.Fd())); err != nil || pipeErr != nil || kind != windows.FILE_TYPE_PIPE ||
		page == 0 || page == utf8Page {
		return w
	}
	return &Narrow{to: f, other: inPage(page)}
}
