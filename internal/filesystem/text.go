package filesystem

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"

	"golang.org/x/text/encoding/unicode"
)

// ErrUTF16 means that a text is UTF-16 without a byte order mark.
var ErrUTF16 = errors.New("it is saved as UTF-16 without a byte order mark: save it as UTF-8")

// Text returns a reader of UTF-8 for a text that a user has saved as UTF-8 or as UTF-16. UTF-16 needs a byte order
// mark, as PowerShell 5's > writes it. Text drops the mark. What is no text passes unchanged.
func Text(from io.Reader) io.Reader { return &text{in: bufio.NewReaderSize(from, 64<<10)} }

type text struct {
	in  *bufio.Reader
	out io.Reader // nil until the first read: opening does not wait
}

func (t *text) Read(to []byte) (int, error) {
	if t.out == nil {
		if err := t.begin(); err != nil {
			return 0, err
		}
	}
	return t.out.Read(to)
}

// begin looks at the first bytes. It waits for a second byte only if the first one begins a mark, since a user at a
// terminal may type one alone. An error comes again on reading.
func (t *text) begin() error {
	head, _ := t.in.Peek(1)
	if len(head) == 1 && slices.Contains([]byte("\xef\xfe\xff"), head[0]) {
		head, _ = t.in.Peek(3)
	} else {
		head, _ = t.in.Peek(min(2, t.in.Buffered()))
	}
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		t.out = unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder().Reader(t.in)
		return nil
	case string(head) == "\xef\xbb\xbf":
		_, _ = t.in.Discard(len(head))
	case len(head) == 2 && (head[0] == 0) != (head[1] == 0) && head[0] != 0x5d: // lzma
		return ErrUTF16
	}
	t.out = t.in
	return nil
}
