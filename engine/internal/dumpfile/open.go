package dumpfile

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"filewise"
	"filewise/internal/filesystem"
	"filewise/internal/progress"
)

// packers lists the programs that pack dumps. The first bytes of a file identify its packer.
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

// Unpacked returns a file's name without the ending that its packer added.
func Unpacked(name string) string {
	for _, p := range packers {
		if plain, is := strings.CutSuffix(name, p.ending); is {
			return plain
		}
	}
	return name
}

// Open opens a dump as text. gzip, zstd, xz or bzip2 can have packed the file; the text can be UTF-16 or begin with a
// byte order mark.
func Open(path string) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	t, err := Text(f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	t.closers = append(t.closers, f)
	return t, nil
}

// Shown begins a progress step, named what, for reading a dump. The step's total counts only files that no program has
// packed.
func Shown(ctx context.Context, what, path string) *progress.Step {
	total := int64(0)
	_ = filepath.WalkDir(path, func(at string, e fs.DirEntry, err error) error { // what cannot be read is reported by who reads it
		if err == nil && e.Type().IsRegular() {
			if info, err := e.Info(); err == nil && Unpacked(at) == at {
				total += info.Size()
			}
		}
		return nil
	})
	return progress.Begin(ctx, what+" "+filepath.Base(path), total, "")
}

// Text returns the text of a file, unpacked and decoded as Open does. Closing the result leaves the file open.
func Text(f io.Reader) (*Unpacking, error) {
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
	t.Reader = filesystem.Text(in)
	return t, nil
}

// Unpacking reads the text of a file that can be packed.
type Unpacking struct {
	io.Reader
	closers []io.Closer
}

// Close closes the unpackers, and the file if Open opened it.
func (t *Unpacking) Close() (err error) {
	for _, c := range t.closers {
		err = errors.Join(err, c.Close())
	}
	return err
}

// signs lists byte sequences near the start of a file that show which program wrote it.
var signs = []struct{ of, what string }{
	{"PK\x03\x04", "a zip archive: unpack it"}, {"7z\xbc\xaf", "a 7z archive: unpack it"}, // first: a script may stand in one as it is
	{"Rar!", "a rar archive: unpack it"}, {"ustar", "a tar archive: unpack it"}, {"XBSTCK01", "a stream of mariadb-backup"},
	{"PGDMP", "an archive of pg_dump"}, {"-- PostgreSQL database dump", "a script of pg_dump"},
	{"-- PostgreSQL database cluster dump", "a script of pg_dumpall"}, {"-- MySQL dump", "a script of mysqldump"},
	{"-- MariaDB dump", "a script of mariadb-dump"}, {"SQLite format 3\x00", "a database of SQLite"}, {"TAPE", "a backup of SQL Server"},
	{"PRAGMA foreign_keys", "a dump of SQLite"},
}

// Head is the number of bytes at the start of a dump in which CheckHead looks for signs.
const Head = 512

// CheckHead refuses a head whose sign shows another program. A sign is accepted if its description contains one of own.
func CheckHead(head []byte, programs string, own ...string) error {
	for _, s := range signs {
		at := bytes.Index(head, []byte(s.of))
		archive := !strings.HasPrefix(s.of, "-- ") && s.of != "ustar"
		if at < 0 || archive && at > 0 || s.of == "ustar" && at != 257 {
			continue
		}
		if slices.ContainsFunc(own, func(o string) bool { return strings.Contains(s.what, o) }) {
			return nil
		}
		return NotWritten(programs, "it is %s", s.what)
	}
	return nil
}

// NotWritten returns the usage error for a file that none of the programs has written.
func NotWritten(programs, why string, args ...any) error {
	return filewise.Errorf(filewise.CodeUsage, "restore it to a server, and give the server's URL, or what "+programs+" writes of it",
		"not written by "+programs+": "+why, args...)
}
