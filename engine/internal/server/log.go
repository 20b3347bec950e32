package server

import (
	"io"
	"path/filepath"
	"strings"
	"unicode"
)

// What of a log is read and shown at most.
const (
	tailBytes = 16 << 10
	tailLines = 5
	lineBytes = 400
)

// Tail returns the end of a log: its last lines that picks selects. Nil means its last lines of any
// kind. It is empty if picks selects no line, or the log cannot be read.
func Tail(path string, picks func(string) bool) string {
	f, err := OpenIn(filepath.Dir(path), path)
	if err != nil {
		return ""
	}
	defer f.Close()
	if size, err := f.Seek(0, io.SeekEnd); err != nil || size == 0 {
		return ""
	} else if _, err := f.Seek(max(size-tailBytes, 0), io.SeekStart); err != nil {
		return ""
	}
	b, err := io.ReadAll(io.LimitReader(f, tailBytes))
	if err != nil {
		return ""
	}
	var all []string
	for line := range strings.Lines(string(b)) {
		line = clean(line)
		if line == "" {
			continue
		}
		if picks == nil || picks(line) {
			all = append(all, line)
		}
	}
	return strings.Join(all[max(len(all)-tailLines, 0):], "\n")
}

// clean keeps a log line from altering a terminal or flooding it.
func clean(line string) string {
	line = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) && r != '\t' {
			return -1
		}
		return r
	}, line)
	if len(line) > lineBytes {
		line = strings.ToValidUTF8(line[:lineBytes], "") + " …"
	}
	return strings.TrimRight(line, " \t")
}
