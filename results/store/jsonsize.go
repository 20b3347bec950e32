// This file bounds what a JSON text from elsewhere may come to in memory before it
// is decoded: a text of some kilobytes, or one that compression has made small, may hold
// millions of empty objects, each of which becomes a large one of Go's.

package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// limits are a text's limits.
type limits struct {
	Depth  int   // of objects and lists within each other
	Memory int64 // bytes that it may come to, by the estimate below
	String int64 // bytes of one string
}

// Estimates of the memory that a part takes once it is decoded, in bytes.
const (
	objectBytes  = 1 << 10 // of a struct near the root
	innerBytes   = 256     // of one further within
	innerJSON    = 6       // from this depth on
	elementBytes = 24      // of a list
	mostBlanks   = 4 << 10 // in a row, which no program writes
)

// errJSONTooLarge reports that a text exceeds its limits.
var errJSONTooLarge = errors.New("it is larger than what Filewise writes")

// checkJSONSize reads a text through, and estimates the memory that it comes to.
func checkJSONSize(text []byte, l limits) (memory int64, err error) {
	r := &reader{from: bytes.NewReader(text), limits: l}
	_, err = io.Copy(io.Discard, r)
	return r.memory, err
}

// newReader passes a text on as long as it keeps to the limits; what exceeds them is an error that wraps ErrTooLarge.
// It does not check whether the text is JSON.
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
