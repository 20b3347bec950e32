package store

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"filewise"
)

// scanDeltas reads a list exactly as packDeltas writes it, in one pass. ok is false for any other form, such as one with
// escapes, which is left to encoding/json.
func scanDeltas(text string) (ds []filewise.Delta, ok bool) {
	s := deltaScanner{rest: text, ok: true}
	if !s.skip("[{") {
		return nil, false
	}
	var last filewise.Delta
	for more := true; more && s.ok; more = s.skip(",{") {
		var d filewise.Delta
		d.Probe = s.text(`"probe":"`, last.Probe)
		d.Name = s.text(`,"name":"`, last.Name)
		d.Unit = s.text(`,"unit":"`, last.Unit)
		d.Value = s.number(`,"value":`)
		if strings.HasPrefix(s.rest, `,"class"`) {
			d.Class = filewise.WaitClass(s.text(`,"class":"`, string(last.Class)))
		}
		if strings.HasPrefix(s.rest, `,"file"`) {
			d.File = s.text(`,"file":"`, last.File)
		}
		s.ok = s.skip("}") && s.ok
		ds, last = append(ds, d), d
	}
	return ds, s.ok && s.rest == "]"
}

type deltaScanner struct {
	rest string
	ok   bool
}

// skip reports whether the rest begins with a text, and goes past it.
func (s *deltaScanner) skip(text string) (found bool) {
	s.rest, found = strings.CutPrefix(s.rest, text)
	return found
}

// text returns the string after a key. It shares memory with last if both are equal, and none with the column.
func (s *deltaScanner) text(key, last string) string {
	s.ok = s.skip(key) && s.ok
	for i := 0; i < len(s.rest); i++ {
		switch c := s.rest[i]; {
		case c == '"':
			value := s.rest[:i]
			s.rest = s.rest[i+1:]
			if value == last {
				return last
			}
			s.ok = s.ok && utf8.ValidString(value) // encoding/json replaces what is not
			return strings.Clone(value)
		case c == '\\' || c < ' ':
			s.ok = false
			return ""
		}
	}
	s.ok = false
	return ""
}

// number returns the number after a key. NaN and infinite numbers, which JSON has as strings, are left to encoding/json.
func (s *deltaScanner) number(key string) float64 {
	s.ok = s.skip(key) && s.ok
	end := len(s.rest) - len(strings.TrimLeft(s.rest, "0123456789.eE+-"))
	value, err := strconv.ParseFloat(s.rest[:end], 64)
	s.rest, s.ok = s.rest[end:], s.ok && err == nil
	return value
}
