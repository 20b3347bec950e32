package filesystem

import (
	"bufio"
	"errors"
	"io"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// ErrUTF16: a text is no UTF-8, and nothing at its head says so.
var ErrUTF16 = errors.New("it is saved as UTF-16 without a byte order mark: save it as UTF-8")

// Text reads a text that a user has saved as UTF-8, or as UTF-16 with a byte order mark, as
// PowerShell 5's > does, as UTF-8 without a mark. What is no text passes as it is.
func Text(from io.Reader) io.Reader { return &text{in: bufio.NewReaderSize(from, 64<<10)} }

type text struct {
	in  *bufio.Reader
	out io.Reader // nil until the first read: opening waits for nobody
}

func (t *text) Read(to []byte) (int, error) {
	if t.out == nil {
		head, _ := t.in.Peek(2) // an error comes again by reading
		if len(head) == 2 && (head[0] == 0) != (head[1] == 0) {
			return 0, ErrUTF16
		}
		t.out = transform.NewReader(t.in, unicode.BOMOverride(transform.Nop))
	}
	return t.out.Read(to)
}
