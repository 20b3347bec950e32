package dumpfile

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

	"filewise"
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

// A dump is recognized by its first bytes, whatever its name is.
func TestOpen(t *testing.T) {
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
		f, err := Open(path)
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

// What other programs have written is named.
func TestCheckHead(t *testing.T) {
	for head, says := range map[string]string{"PGDMP\x01": "an archive of pg_dump", "PK\x03\x04 -- MySQL dump": "unpack it",
		"--\n-- PostgreSQL database dump\n": "a script of pg_dump", strings.Repeat("\x00", 257) + "ustar": "a tar archive",
		"-- MariaDB dump 10": "", "-- MySQL dump": "", "-- phpMyAdmin SQL Dump": "", "SELECT 'PGDMP ustar'": ""} {
		err := CheckHead([]byte(head), "mysqldump", "mysqldump", "mariadb-dump")
		if says == "" && err != nil || says != "" && (err == nil || !strings.HasPrefix(err.Error(), "not written by mysqldump: ") ||
			!strings.Contains(err.Error(), says)) {
			t.Errorf("%q: %v", head, err)
		}
	}
}

// A file without its end is of no other release.
func TestFailed(t *testing.T) {
	for err, want := range map[error]string{io.ErrUnexpectedEOF: "its end is missing", errors.New("syntax error"): "an older one"} {
		if got := filewise.RemedyOf(Failed("shop.sql", "pg_dump", err)); !strings.Contains(got, want) {
			t.Errorf("%v: %s", err, got)
		}
	}
}

// What is to be done is reported as the program failed.
func TestTake(t *testing.T) {
	program := filepath.Join(t.TempDir(), "pg_dump")
	for said, want := range map[string]string{"pg_dump: error: aborting because of server version mismatch": "--server-bin",
		"permission denied for table orders": "the rights", "SHOW FIELDS FROM late: View references invalid table(s) (1356)": "definer"} {
		if err := os.WriteFile(program, []byte("#!/bin/sh\necho '"+said+"' >&2\nexit 1\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		err := Take(t.Context(), io.Discard, nil, program)
		if err == nil || !strings.Contains(err.Error(), said) || !strings.Contains(filewise.RemedyOf(err), want) {
			t.Errorf("%v; %s", err, filewise.RemedyOf(err))
		}
	}
}

// Tables that the dump has not are all named, and none of them as one that can be divided.
func TestMissingTables(t *testing.T) {
	custom := &filewise.CustomSQL{Tables: []filewise.CustomTable{{Name: "a"}, {Name: "b"}, {Name: "x"}, {Name: "y"}}}
	has := func(name string) bool { return name < "m" }
	if err := CheckTables(custom, has, ""); err == nil || !strings.Contains(err.Error(), "no table x or y") {
		t.Error(err)
	}
	err := Refused(custom.Tables, map[string]error{"a": Refuse("a is none")}, has, filewise.KindSingle)
	if err == nil || !strings.Contains(err.Error(), "no table y") || !strings.Contains(filewise.RemedyOf(err), "(can be divided: b)") {
		t.Errorf("%v; %s", err, filewise.RemedyOf(err))
	}
}
