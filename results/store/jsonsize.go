// This file bounds the memory that a foreign JSON text takes, before the text is decoded. A text of some kilobytes, or
// a large one that compression made small, may hold millions of empty objects, each of which becomes a large Go value.

package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// limits holds the limits of a JSON text.
type limits struct {
	Depth  int   // nesting of objects and lists
	Memory int64 // estimated bytes after decoding
	String int64 // bytes of one string
}

// Estimates of the memory, in bytes, that a part takes after decoding.
const (
	objectBytes  = 1 << 10 // of a struct near the root
	innerBytes   = 256     // of a struct further within
	innerJSON    = 6       // depth from which innerBytes counts
	elementBytes = 24      // of a list's element
	mostBlanks   = 4 << 10 // blanks in a row; no program writes that many
)

// errJSONTooLarge reports that a text exceeds its limits.
var errJSONTooLarge = errors.New("it is larger than what Filewise writes")

// checkJSONSize reads a whole text, and estimates the memory that it takes after decoding.
func checkJSONSize(text []byte, l limits) (memory int64, err error) {
	r := &reader{from: bytes.NewReader(text), limits: l}
	_, err = io.Copy(io.Discard, r)
	return r.memory, err
}

// newReader passes a text on as long as it keeps to the limits. A text that exceeds them is an error that wraps
// errJSONTooLarge. newReader does not check whether the text is JSON.
func newReader(r io.Reader, l limits) io.Reader { return &reader{from: r, limits: l} }

type reader struct {
	limits
	from     io.Reader
	depth    int
	memory   int64
	blanks   int
	text     int64 // bytes of the string so far
	inString bool
	escaped  bool
	err      error
}

func (r *reader) Read(p []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	n, err := r.from.Read(p)
	for _, b := range p[:n] {
		if r.take(b); r.err != nil {
			return 0, r.err
		}
	}
	return n, err
}

// take counts a byte.
func (r *reader) take(b byte) {
	r.memory++
	if r.inString {
		r.within(b)
	} else {
		r.between(b)
	}
	if r.memory > r.Memory {
		r.fail("more than %d bytes in memory", r.Memory)
	}
}

func (r *reader) within(b byte) {
	switch r.text++; {
	case r.escaped:
		r.escaped = false
	case b == '\\':
		r.escaped = true
	case b == '"':
		r.inString, r.text = false, 0
	case r.text > r.String:
		r.fail("a string of more than %d bytes", r.String)
	}
}

func (r *reader) between(b byte) {
	if b == ' ' || b == '\n' || b == '\t' || b == '\r' {
		if r.blanks++; r.blanks > mostBlanks {
			r.fail("more than %d blanks in a row", mostBlanks)
		}
		return
	}
	r.blanks = 0
	switch b {
	case '"':
		r.inString = true
	case '{', '[':
		if r.depth++; r.depth > r.Depth {
			r.fail("a depth of more than %d", r.Depth)
		}
		r.memory += objectBytes
		if r.depth >= innerJSON || b == '[' {
			r.memory -= objectBytes - innerBytes
		}
	case '}', ']':
		r.depth--
	case ',':
		r.memory += elementBytes
	}
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: "+format, append([]any{errJSONTooLarge}, args...)...)
	}
}
