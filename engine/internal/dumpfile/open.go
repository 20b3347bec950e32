package dumpfile

import (
	"bytes"
	"context"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"filewise"
	"filewise/internal/filesystem"
	"filewise/internal/progress"
)

// Shown begins a progress step, named what, for reading a dump. The step's total counts only files that no program has
// packed.
func Shown(ctx context.Context, what, path string) *progress.Step {
	total := int64(0)
	_ = filepath.WalkDir(path, func(at string, e fs.DirEntry, err error) error { // what cannot be read is reported by who reads it
		if err == nil && e.Type().IsRegular() {
			if info, err := e.Info(); err == nil && filesystem.UnpackedName(at) == at {
				total += info.Size()
			}
		}
		return nil
	})
	return progress.Begin(ctx, what+" "+filepath.Base(path), total, "")
}

// signs lists byte sequences near the start of a file that show which program wrote it.
var signs = []struct{ of, what string }{
	{"PK\x03\x04", "a zip archive: unpack it"}, {"7z\xbc\xaf", "a 7z archive: unpack it"}, // first: a script may stand in one as it is
	{"Rar!", "a rar archive: unpack it"}, {"ustar", "a tar archive: unpack it"}, {"XBSTCK01", "a stream of mariadb-backup"},
	{"PGDMP", "an archive of pg_dump"}, {"-- PostgreSQL database dump", "a script of pg_dump"},
	{"-- PostgreSQL database cluster dump", "a script of pg_dumpall"}, {"-- MySQL dump", "a script of mysqldump"},
	{"-- MariaDB dump", "a script of mariadb-dump"}, {"SQLite format 3\x00", "a database of SQLite"}, {"TAPE", "a backup of SQL Server"},
	{"PRAGMA foreign_keys", "a dump of SQLite"}, {"\x04\x22\x4d\x18", "packed by lz4: unpack it"}, {"\x89LZO", "packed by lzop: unpack it"},
	{"\x1f\x9d", "packed by compress: unpack it"}, {"\x5d\x00\x00", "packed by lzma: unpack it"}, {"qpress10", "packed by qpress: unpack it"},
	{"\xff\x06\x00\x00sNaPpY", "packed by snappy: unpack it"}, {"Salted__", "encrypted by openssl: decrypt it"},
	{"-----BEGIN PGP", "encrypted by gpg: decrypt it"}, {"age-encryption.org/", "encrypted by age: decrypt it"}, {"<", "XML or HTML"},
	{"[", "JSON"}, {"{", "JSON"},
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
	if bytes.IndexByte(head, 0) >= 0 {
		return NotWritten(programs, "it is a binary file of an unknown form")
	}
	return nil
}

// NotWritten returns the usage error for a file that none of the programs has written.
func NotWritten(programs, why string, args ...any) error {
	return filewise.Errorf(filewise.CodeUsage, "restore it to a server, and give the server's URL, or what "+programs+" writes of it",
		"not written by "+programs+": "+why, args...)
}
