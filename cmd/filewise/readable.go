package main

import (
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	"filewise/internal/pager"
	"filewise/report/document"
)

// readable passes text on without what would steer a terminal: texts of bundles, stores,
// CSV and study files are others', and whatever is written may hold one.
type readable struct {
	to   io.Writer
	half []byte // of a letter, whose rest comes with the next write
}

func (r *readable) Write(text []byte) (int, error) {
	all := append(r.half, text...)
	whole := len(all)
	for n := 1; n < utf8.UTFMax && n <= len(all); n++ {
		if b := all[len(all)-n:]; utf8.RuneStart(b[0]) {
			if !utf8.FullRune(b) {
				whole -= n
			}
			break
		}
	}
	if _, err := io.WriteString(r.to, harmless(string(all[:whole]))); err != nil {
		return 0, err
	}
	r.half = append([]byte(nil), all[whole:]...)
	return len(text), nil
}

// harmless is the text with a mark for each character that would steer a terminal.
func harmless(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && document.Steers(r) {
			return utf8.RuneError
		}
		return r
	}, text)
}

// forPeople is standard output as people read it; for programs it stays as it is, such
// as CSV and bundles.
func forPeople(w io.Writer, noPager *bool) io.Writer {
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return &readable{to: &pager.Pager{Screen: f, No: noPager, Size: func() (int, int) { return size(f) }}}
	}
	return w
}

// beneath is the writer below: for what cleans its texts, and steers the terminal itself.
func beneath(w io.Writer) io.Writer {
	if r, ok := w.(*readable); ok {
		return r.to
	}
	return w
}
