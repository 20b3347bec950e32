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

// packers are the programs that dumps are packed by, recognized by the first bytes.
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

// Unpacked returns a file's name without the ending that its packer gave it.
func Unpacked(name string) string {
	for _, p := range packers {
		if plain, is := strings.CutSuffix(name, p.ending); is {
			return plain
		}
	}
	return name
}

// Open opens the text of a dump: gzip, zstd, xz or bzip2 may have packed it, and it can be in UTF-16 or begin with a byte order mark.
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

// Shown shows how far the text of a dump is read, for what it is. Its size is known if no program has packed it.
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

// Text returns the text of a file, of which the same can be true. Closing it leaves the file open.
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

// Unpacking reads a file's text.
type Unpacking struct {
	io.Reader
	closers []io.Closer
}

// Close ends it.
func (t *Unpacking) Close() (err error) {
	for _, c := range t.closers {
		err = errors.Join(err, c.Close())
	}
	return err
}

// signs are the heads of files that show which program has written them.
var signs = []struct{ of, what string }{
	{"PK\x03\x04", "a zip archive: unpack it"}, {"7z\xbc\xaf", "a 7z archive: unpack it"}, // first: a script may stand in one as it is
	{"Rar!", "a rar archive: unpack it"}, {"ustar", "a tar archive: unpack it"}, {"XBSTCK01", "a stream of mariadb-backup"},
	{"PGDMP", "an archive of pg_dump"}, {"-- PostgreSQL database dump", "a script of pg_dump"},
	{"-- PostgreSQL database cluster dump", "a script of pg_dumpall"}, {"-- MySQL dump", "a script of mysqldump"},
	{"-- MariaDB dump", "a script of mariadb-dump"}, {"SQLite format 3\x00", "a database of SQLite"}, {"TAPE", "a backup of SQL Server"},
	{"PRAGMA foreign_keys", "a dump of SQLite"},
}

// Head sets how much of a dump reports who has written it.
const Head = 512

// CheckHead refuses the head of a file that another program has written than those (their signs' words hold one).
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

// NotWritten is the error of a file that none of the programs has written.
func NotWritten(programs, why string, args ...any) error {
	return filewise.Errorf(filewise.CodeUsage, "restore it to a server, and give the server's URL, or what "+programs+" writes of it",
		"not written by "+programs+": "+why, args...)
}
