//go:build unix

package server

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// An image laid elsewhere has every byte, mode and hole of the original, and
// leaves alone what is there and what was to be skipped.
func TestImage(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll(filepath.Join(from, "data", "deep"), 0o700))
	random := bytes.Repeat([]byte("some content "), 9000)
	files := map[string][]byte{
		"data/empty": {}, "data/short": []byte("x"), "data/deep/content": random,
		"zeros": make([]byte, 3*imageBlock+7), "mixed": append(append(make([]byte, 2*imageBlock), random...), make([]byte, 5*imageBlock+1)...),
		"skipped.log": []byte("log"), "mine.cnf": []byte("theirs"),
	}
	for name, text := range files {
		must(os.WriteFile(filepath.Join(from, name), text, 0o640))
	}
	sparse, err := os.Create(filepath.Join(from, "sparse"))
	must(err)
	_, err = sparse.WriteAt([]byte("end"), 4<<20)
	must(err)
	must(sparse.Close())
	full, err := os.Create(filepath.Join(from, "full"))
	must(err)
	must(allocate(full, 2<<20))
	_, err = full.WriteAt([]byte("start"), 0)
	must(err)
	must(full.Close())

	skip := func(path string) bool { return strings.HasSuffix(path, ".log") }
	if _, err := TakeImage(t.Context(), []string{from}, 1<<20, skip); !errors.Is(err, ErrImageSize) {
		t.Errorf("6 MiB in an image of at most 1: %v", err)
	}
	m, err := TakeImage(t.Context(), []string{from}, 1<<30, skip)
	must(err)
	if m.Bytes() > 64<<10 {
		t.Errorf("the image takes %d bytes", m.Bytes())
	}
	must(os.RemoveAll(filepath.Join(from, "data", "short"))) // an image needs its original no longer
	must(os.WriteFile(filepath.Join(to, "mine.cnf"), []byte("mine"), 0o600))
	must(os.Mkdir(filepath.Join(to, "data"), 0o700))
	for range 2 { // the second time everything is there
		must(m.Lay(t.Context(), []string{to}))
	}
	delete(files, "skipped.log")
	files["mine.cnf"] = []byte("mine")
	for name, text := range files {
		got, err := os.ReadFile(filepath.Join(to, name))
		if err != nil || !bytes.Equal(got, text) {
			t.Errorf("%s has %d bytes, want %d: %v", name, len(got), len(text), err)
		}
	}
	if _, err := os.Stat(filepath.Join(to, "skipped.log")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what was skipped: %v", err)
	}
	for _, name := range []string{"sparse", "full", "zeros", "mixed"} {
		a, b := blocks(t, filepath.Join(from, name)), blocks(t, filepath.Join(to, name))
		if a != b {
			t.Errorf("%s takes %d blocks of storage, the original %d", name, b, a)
		}
	}
}

func blocks(t *testing.T, path string) int64 {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Sync(); err != nil { // blocks are allocated when they are written back
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return int64(info.Sys().(*syscall.Stat_t).Blocks)
}

// A volume without space for an image fails, and explains why.
func TestImageWithoutRoom(t *testing.T) {
	from := t.TempDir()
	if err := os.WriteFile(filepath.Join(from, "file"), make([]byte, 64<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := TakeImage(t.Context(), []string{from}, 1<<20, func(string) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 4096, Max: old.Max}); err != nil {
		t.Skip(err)
	}
	defer func() { _ = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old) }()
	if err := m.Lay(t.Context(), []string{t.TempDir()}); !errors.Is(err, syscall.EFBIG) {
		t.Errorf("a file system that takes 4 KiB of a file: %v", err)
	}
}
