package dumpfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filewise"
)

// What other programs have written is named.
func TestCheckHead(t *testing.T) {
	for head, says := range map[string]string{"PGDMP\x01": "an archive of pg_dump", "PK\x03\x04 -- MySQL dump": "unpack it",
		"--\n-- PostgreSQL database dump\n": "a script of pg_dump", strings.Repeat("\x00", 257) + "ustar": "a tar archive",
		"\x04\x22\x4d\x18\x64": "packed by lz4", "Salted__\x01": "decrypt it", "<?xml": "XML", "[{": "JSON", "a\x00b": "binary",
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
	for text, want := range map[string]string{"pg_dump: error: aborting because of server version mismatch": "--server-bin",
		"permission denied for table orders": "the rights", "SHOW FIELDS FROM late: View references invalid table(s) (1356)": "definer"} {
		if err := os.WriteFile(program, []byte("#!/bin/sh\necho '"+text+"' >&2\nexit 1\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		err := Take(t.Context(), io.Discard, nil, program)
		if err == nil || !strings.Contains(err.Error(), text) || !strings.Contains(filewise.RemedyOf(err), want) {
			t.Errorf("%v; %s", err, filewise.RemedyOf(err))
		}
	}
}

// A program that a silent server keeps waiting is ended; one whose output waits here is not.
func TestTakeFromASilentServer(t *testing.T) {
	before := patience
	patience = 200 * time.Millisecond
	t.Cleanup(func() { patience = before })
	program := filepath.Join(t.TempDir(), "pg_dump")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho one\n[ $1 = ends ] || exec sleep 60\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	slow := writer(func(b []byte) (int, error) { time.Sleep(2 * patience); return len(b), nil })
	if err := Take(t.Context(), slow, nil, program, "ends"); err != nil {
		t.Error(err)
	}
	err := Take(t.Context(), io.Discard, nil, program, "stays")
	if err == nil || !strings.HasSuffix(err.Error(), "the server sent nothing for 200ms") || filewise.RemedyOf(err) == "" {
		t.Errorf("%v; %s", err, filewise.RemedyOf(err))
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }

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
