package filesystem

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"
)

// Anyone who types one letter at a terminal is answered.
func TestTextWaitsForNoSecondByte(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	in := Text(r)
	for _, letter := range []string{"\n", "y", "\xe2"} {
		go func() { _, _ = io.WriteString(w, letter) }()
		var b [10]byte
		if n, err := in.Read(b[:]); string(b[:n]) != letter || err != nil {
			t.Errorf("%q: %q, %v", letter, b[:n], err)
		}
	}
}

// Whatever editor or shell has saved a text, it reads as UTF-8.
func TestText(t *testing.T) {
	const plain = "workload: inserts # Größe 💾\r\nfiles: 1,2\n"
	inUTF16 := func(low, high int) string {
		var b bytes.Buffer
		for _, u := range utf16.Encode([]rune(plain)) {
			var pair [2]byte
			pair[low], pair[high] = byte(u), byte(u>>8)
			b.Write(pair[:])
		}
		return b.String()
	}
	long := strings.Repeat(plain, 5000)
	for name, c := range map[string]struct {
		saved, want string
		err         error
	}{
		"UTF-8":                            {plain, plain, nil},
		"nothing":                          {"", "", nil},
		"a byte":                           {"1", "1", nil},
		"UTF-8 with its mark":              {"\xef\xbb\xbf" + plain, plain, nil},
		"UTF-16 by PowerShell":             {"\xff\xfe" + inUTF16(0, 1), plain, nil},
		"UTF-16 with the high bytes first": {"\xfe\xff" + inUTF16(1, 0), plain, nil},
		"lzma":                             {"\x5d\x00\x00", "\x5d\x00\x00", nil},
		"UTF-16 without a mark":            {inUTF16(0, 1), "", ErrUTF16},
		"more than a buffer":               {long, long, nil},
		"gzip":                             {"\x1f\x8b\x08\x00\x00\xff\xfe", "\x1f\x8b\x08\x00\x00\xff\xfe", nil},
	} {
		if got, err := io.ReadAll(Text(iotest.OneByteReader(strings.NewReader(c.saved)))); c.err == nil && (string(got) != c.want || err != nil) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		path := filepath.Join(t.TempDir(), "saved")
		if err := os.WriteFile(path, []byte(c.saved), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := ReadFile(path); string(got) != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s from a file: %q, %v", name, got, err)
		}
	}
	if _, err := ReadFile(filepath.Join(t.TempDir(), "absent")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}
