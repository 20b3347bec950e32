package main

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// screen is a terminal of which only what the live display may use is known;
// anything else is an error.
type screen struct {
	width, height int
	rows          []string // those scrolled off included
	row, col      int
	redraws       int // cursor movements up
	colours       int // sequences for colour and weight
	err           error
}

func newScreen(width, height int) *screen {
	return &screen{width: width, height: height, rows: []string{""}}
}

func (s *screen) fail(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf(format, args...)
	}
}

// write takes output that ends with no half sequence.
func (s *screen) write(out string) {
	for len(out) > 0 {
		r, n := utf8.DecodeRuneInString(out)
		switch {
		case r == '\x1b':
			n = s.escape(out)
		case r == '\r':
			s.col = 0
		case r == '\n':
			s.row++
			for s.row >= len(s.rows) {
				s.rows = append(s.rows, "")
			}
		case r < ' ' || r == utf8.RuneError:
			s.fail("control character %q", out[:n])
		default:
			s.put(r)
		}
		out = out[n:]
	}
}

func (s *screen) put(r rune) {
	if s.col >= s.width {
		s.fail("line %q is wider than %d columns", s.rows[s.row]+string(r), s.width)
		return
	}
	line := []rune(s.rows[s.row])
	for len(line) <= s.col {
		line = append(line, ' ')
	}
	line[s.col] = r
	s.rows[s.row] = string(line)
	s.col += ansi.StringWidth(string(r))
}

// escape executes the sequence that out begins with and returns its length.
func (s *screen) escape(out string) int {
	if !strings.HasPrefix(out, "\x1b[") {
		s.fail("escape sequence %.10q", out)
		return 1
	}
	n := 2
	for n < len(out) && (out[n] < '@' || out[n] > '~') {
		n++
	}
	if n == len(out) {
		s.fail("half a sequence: %q", out)
		return n
	}
	param := out[2:n]
	switch out[n] {
	case 'm':
		s.colours++
	case 'A':
		up, err := strconv.Atoi(param)
		if param == "" {
			up, err = 1, nil
		}
		s.redraws++
		s.row -= up
		if err != nil || s.row < max(0, len(s.rows)-s.height) {
			s.fail("cursor up %s: beyond the top of the screen", param)
			s.row = max(0, s.row)
		}
	case 'K':
		s.rows[s.row] = string([]rune(s.rows[s.row])[:min(s.col, len([]rune(s.rows[s.row])))])
	case 'J':
		s.rows = s.rows[:s.row+1]
		s.rows[s.row] = string([]rune(s.rows[s.row])[:min(s.col, len([]rune(s.rows[s.row])))])
	default:
		s.fail("escape sequence %q", out[:n+1])
	}
	return n + 1
}

func (s *screen) String() string { return strings.Join(s.rows, "\n") }
