package dump

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"filewise/internal/filesystem"
)

// reader splits a dump's script as psql does. A statement ends with a semicolon at the end of a line, outside of
// quotes, brackets and bodies.
type reader struct {
	in       *bufio.Reader
	quote    string // the open quote: ', " or $tag$
	escapes  bool   // in E'…'
	brackets int
	body     bool // in BEGIN ATOMIC
}

var dollar = regexp.MustCompile(`^\$(?:[\pL_][\pL\pN_]*)?\$`)

// next returns the next statement with its semicolon, or a psql command. At the end it returns io.EOF.
func (s *reader) next() (string, error) {
	var b strings.Builder
	for {
		line, err := filesystem.Line(s.in, b.Len())
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		trimmed := strings.TrimSpace(line)
		switch {
		case b.Len() == 0 && (trimmed == "" || strings.HasPrefix(trimmed, "--")):
			if err != nil {
				return "", io.EOF
			}
			continue
		case b.Len() == 0 && trimmed[0] == '\\':
			return trimmed, nil
		}
		ends := s.ends(line, trimmed)
		if before, is := strings.CutSuffix(line, "\r\n"); is && s.quote == "" { // saved on Windows
			line = before + "\n"
		}
		b.WriteString(line)
		if ends {
			return strings.TrimRight(b.String(), "\r\n"), nil
		}
		if err != nil {
			return "", fmt.Errorf("the dump ends within a statement: %w: %.200s", io.ErrUnexpectedEOF, b.String())
		}
	}
}

// ends reports whether a statement ends with this line.
func (s *reader) ends(line, trimmed string) bool {
	s.body = s.quote == "" && (s.body && trimmed != "END;" || trimmed == "BEGIN ATOMIC")
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case s.quote != "" && s.escapes && c == '\\':
			i++
		case s.quote != "" && strings.HasPrefix(line[i:], s.quote):
			if len(s.quote) == 1 && strings.HasPrefix(line[i+1:], s.quote) { // a doubled quote is an ordinary character
				i++
				continue
			}
			i += len(s.quote) - 1
			s.quote = ""
		case s.quote != "":
		case c == '\'' || c == '"':
			s.quote, s.escapes = line[i:i+1], c == '\'' && i > 0 && line[i-1] == 'E'
		case c == '$':
			s.quote, s.escapes = dollar.FindString(line[i:]), false
			i += max(len(s.quote)-1, 0)
		case c == '(':
			s.brackets++
		case c == ')':
			s.brackets--
		}
	}
	return s.quote == "" && s.brackets == 0 && !s.body && strings.HasSuffix(trimmed, ";")
}

// full fills the whole buffer in each read, because each read becomes a message and a system call.
type full struct{ of io.Reader }

func (f full) Read(to []byte) (n int, err error) {
	for n < len(to) && err == nil {
		var m int
		m, err = f.of.Read(to[n:])
		n += m
	}
	if n > 0 && errors.Is(err, io.EOF) { // the next read reports it again
		err = nil
	}
	return n, err
}

// block reads the lines of a COPY.
type block struct {
	in   *bufio.Reader
	line []byte
	mid  bool // in the middle of a line
	end  bool
}

func (b *block) Read(to []byte) (int, error) {
	for len(b.line) == 0 {
		if b.end {
			return 0, io.EOF
		}
		line, err := b.in.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return 0, fmt.Errorf("the dump ends within rows: %w", err)
		}
		if !b.mid && string(bytes.TrimRight(line, "\r\n")) == `\.` {
			b.end = true
			return 0, io.EOF
		}
		b.mid, b.line = err != nil, line
	}
	n := copy(to, b.line)
	b.line = b.line[n:]
	return n, nil
}
