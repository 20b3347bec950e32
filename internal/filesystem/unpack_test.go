package filesystem

import (
	"bufio"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

func TestLine(t *testing.T) {
	in := bufio.NewReaderSize(strings.NewReader("a\n"+strings.Repeat("b", 100)+"\nc"), 16)
	for _, want := range []string{"a\n", strings.Repeat("b", 100) + "\n"} {
		if got, err := Line(in, 0); got != want || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
	if got, err := Line(in, 0); got != "c" || !errors.Is(err, io.EOF) {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := Line(bufio.NewReader(strings.NewReader("one line of many\n")), Longest); err == nil {
		t.Error("a statement without end")
	}
}

// A packed file is recognized by its first bytes, whatever its name is.
func TestOpenText(t *testing.T) {
	const plain = "SELECT 1;\n"
	pack := func(w func(io.Writer) (io.WriteCloser, error)) string {
		var b strings.Builder
		to, err := w(&b)
		if err == nil {
			_, err = io.WriteString(to, plain)
			err = errors.Join(err, to.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	bz, err := base64.StdEncoding.DecodeString("QlpoOTFBWSZTWb43xuUAAAReAAAQQAAgCAoEDAAgACIGhtQgyYhCzmWzxdyRThQkL43xuUA=")
	if err != nil {
		t.Fatal(err)
	}
	gz := func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil }
	for what, text := range map[string]string{"plain": plain, "BOM": "\xef\xbb\xbf" + plain, "gzip": pack(gz), "bzip2": string(bz),
		"zstd":     pack(func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) }),
		"xz":       pack(func(w io.Writer) (io.WriteCloser, error) { return xz.NewWriter(w) }),
		"UTF-16LE": "\xff\xfe" + strings.Join(strings.Split(plain, ""), "\x00") + "\x00",
		"UTF-16BE": "\xfe\xff\x00" + strings.Join(strings.Split(plain, ""), "\x00")} {
		path := filepath.Join(t.TempDir(), "dump")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := OpenText(path)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		got, err := io.ReadAll(f)
		if err := errors.Join(err, f.Close()); err != nil || string(got) != plain {
			t.Errorf("%s: %q, %v", what, got, err)
		}
	}
}
