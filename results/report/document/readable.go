package document

import (
	"io"
	"strings"
	"unicode/utf8"
)

// Readable passes text on, without characters that would control a terminal. Texts in bundles, stores, CSV and study
// files come from others, and any output may hold one.
type Readable struct {
	To     io.Writer
	Before func(text []byte) // called with the text about to be written; may be nil
	half   []byte            // start of a character whose rest comes with the next write
}

// Write implements io.Writer.
func (r *Readable) Write(text []byte) (int, error) {
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
	if r.Before != nil {
		r.Before(all[:whole])
	}
	if _, err := io.WriteString(r.To, Harmless(string(all[:whole]))); err != nil {
		return 0, err
	}
	r.half = append([]byte(nil), all[whole:]...)
	return len(text), nil
}

// Harmless returns the text with a mark in place of each character that would control a terminal.
func Harmless(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && Steers(r) {
			return utf8.RuneError
		}
		return r
	}, text)
}
