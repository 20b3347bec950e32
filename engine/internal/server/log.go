package server

import (
	"io"
	"path/filepath"
	"strings"
	"unicode"

	"filewise/internal/filesystem"
)

// Limits on what is read and shown of a log.
const (
	tailBytes = 16 << 10
	tailLines = 5
	lineBytes = 400
)

// Tail returns the last lines of a log that picks selects; a nil picks selects every line. It returns "" if no line is
// selected or the log cannot be read.
func Tail(path string, picks func(string) bool) string {
	f, err := filesystem.OpenIn(filepath.Dir(path), path)
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

// clean removes unprintable characters, which could alter a terminal, and shortens a long line.
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
