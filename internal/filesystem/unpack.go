package filesystem

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"filewise"
)

// packers lists the programs that pack files. The first bytes of a file identify its packer.
var packers = []struct {
	magic, ending string
	open          func(io.Reader) (io.Reader, error)
}{
	{"\x1f\x8b", ".gz", func(in io.Reader) (io.Reader, error) { return gzip.NewReader(in) }},
	{"\x28\xb5\x2f\xfd", ".zst", func(in io.Reader) (io.Reader, error) {
		d, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(256<<20))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	}},
	{"\xfd7zXZ\x00", ".xz", func(in io.Reader) (io.Reader, error) { return xz.ReaderConfig{DictCap: 64 << 20}.NewReader(in) }},
	{"BZh", ".bz2", func(in io.Reader) (io.Reader, error) { return bzip2.NewReader(in), nil }},
}

// UnpackedName returns a file's name without the ending that its packer added.
func UnpackedName(name string) string {
	for _, p := range packers {
		if plain, is := strings.CutSuffix(name, p.ending); is {
			return plain
		}
	}
	return name
}

// OpenText opens a file as text. gzip, zstd, xz or bzip2 can have packed the file; the text can be UTF-16 or begin with a
// byte order mark.
func OpenText(path string) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	t, err := Unpack(f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	t.closers = append(t.closers, f)
	return t, nil
}

// Unpack returns the text of a file, unpacked and decoded as OpenText does. Closing the result leaves the file open.
func Unpack(f io.Reader) (*Unpacking, error) {
	in := bufio.NewReaderSize(f, 1<<20)
	t := &Unpacking{}
	head, _ := in.Peek(6)
	for _, p := range packers {
		if !bytes.HasPrefix(head, []byte(p.magic)) {
			continue
		}
		unpacked, err := p.open(in)
		if err != nil {
			return nil, err
		}
		if c, is := unpacked.(io.Closer); is {
			t.closers = append([]io.Closer{c}, t.closers...)
		}
		in = bufio.NewReaderSize(unpacked, 1<<20)
	}
	t.Reader = Text(in)
	return t, nil
}

// Unpacking reads the text of a file that can be packed.
type Unpacking struct {
	io.Reader
	closers []io.Closer
}

// Close closes the unpackers, and the file if OpenText opened it.
func (t *Unpacking) Close() (err error) {
	for _, c := range t.closers {
		err = errors.Join(err, c.Close())
	}
	return err
}

// Longest limits a statement of a script or a log, in bytes; rows of COPY are exempt. Servers take that much by
// default. Without a limit, a few bytes of a packed file could unpack to any size.
const Longest = 64 << 20

// ErrTooLong reports a statement that is longer than Longest.
var ErrTooLong error = filewise.Errorf(filewise.CodeUsage, "leave it out of the file", "a statement is longer than %d MiB", Longest>>20)

// Line reads the next line of a statement. known counts the statement's bytes that were read before.
func Line(in *bufio.Reader, known int) (string, error) {
	var line []byte
	for {
		piece, err := in.ReadSlice('\n')
		if known+len(line)+len(piece) > Longest {
			return "", ErrTooLong
		}
		if line == nil && err == nil {
			return string(piece), nil
		}
		if line = append(line, piece...); !errors.Is(err, bufio.ErrBufferFull) {
			return string(line), err
		}
	}
}
