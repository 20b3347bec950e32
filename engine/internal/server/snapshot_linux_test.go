package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// tree returns every file under root with its content.
func tree(t *testing.T, root string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			all[path] = "directory"
			return err
		}
		b, err := os.ReadFile(path)
		all[path] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func same(t *testing.T, want, got map[string]string) {
	t.Helper()
	for path, text := range want {
		if got[path] != text {
			t.Errorf("%s has changed: %d bytes, were %d", path, len(got[path]), len(text))
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d files and directories, were %d", len(got), len(want))
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestRestore(t *testing.T) {
	root := filepath.Join(t.TempDir(), "data")
	must(t, os.MkdirAll(filepath.Join(root, "db", "empty"), 0o700))
	write := func(name string, b []byte) { must(t, os.WriteFile(filepath.Join(root, name), b, 0o600)) }
	big := make([]byte, 3<<20+17)
	r := rand.NewChaCha8([32]byte{1})
	_, _ = r.Read(big)
	write("big", big)
	write("db/small", []byte("small"))
	write("untouched", []byte("untouched"))
	holes, err := os.Create(filepath.Join(root, "holes"))
	must(t, err)
	must(t, holes.Truncate(4<<20))
	_, err = holes.WriteAt([]byte("in the middle"), 2<<20)
	must(t, err)
	must(t, holes.Close())
	before := tree(t, root)
	s, err := Take(t.Context(), []string{root}, func(r string) string { return r + ".copy" })
	must(t, err)
	same(t, before, tree(t, root))
	for range 2 {
		inode, err := stampOf(filepath.Join(root, "big"))
		must(t, err)
		write("big", append(bytes.Clone(big[:1<<20]), "other"...))
		write("holes", bytes.Repeat([]byte{7}, 5<<20))
		write("new", []byte("new"))
		must(t, os.Remove(filepath.Join(root, "db/small")))
		must(t, os.Remove(filepath.Join(root, "db/empty")))
		must(t, os.MkdirAll(filepath.Join(root, "more/and/more"), 0o700))
		n, err := s.Restore(t.Context())
		must(t, err)
		same(t, before, tree(t, root))
		if want := int64(len(big) + 4<<20 + len("small")); n != want {
			t.Errorf("%d bytes were restored, want %d: what was written since", n, want)
		}
		after, err := stampOf(filepath.Join(root, "big"))
		must(t, err)
		if after.inode != inode.inode {
			t.Error("a file lost its place on the storage")
		}
	}
	if n, err := s.Restore(t.Context()); err != nil || n != 0 {
		t.Errorf("%d bytes restored though nothing was written: %v", n, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	write("big", nil)
	if _, err := s.Restore(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A restored file has no page in the operating system's cache, and ranges that
// were preallocated and never written are so again.
func TestRestoreIsColdAndPreallocated(t *testing.T) {
	dir := t.TempDir()
	root := filepath.Join(dir, "data")
	must(t, os.Mkdir(root, 0o700))
	path := filepath.Join(root, "file")
	f, err := os.Create(path)
	must(t, err)
	defer f.Close()
	const size = 8 << 20
	if err := unix.Fallocate(int(f.Fd()), 0, 0, size); err != nil {
		t.Skipf("this file system does not preallocate: %v", err)
	}
	_, err = f.WriteAt(bytes.Repeat([]byte{1}, 1<<20), 0)
	must(t, err)
	must(t, f.Sync())
	if _, end, err := nextData(f, 0, size); err != nil || end == size {
		t.Skipf("this file system does not tell preallocated from written: %v", err)
	}
	s, err := Take(t.Context(), []string{root}, func(r string) string { return r + ".copy" })
	must(t, err)
	_, err = f.WriteAt(bytes.Repeat([]byte{2}, size), 0)
	must(t, err)
	if n := resident(t, f, size); n == 0 {
		t.Fatal("nothing is cached after writing: the test cannot see the cache")
	}
	_, err = s.Restore(t.Context())
	must(t, err)
	if n := resident(t, f, size); n != 0 {
		t.Errorf("%d pages are cached after restoring", n)
	}
	_, err = io.Copy(io.Discard, io.NewSectionReader(f, 0, size))
	must(t, err)
	if n := resident(t, f, size); n == 0 {
		t.Fatal("nothing is cached after reading: the test cannot see the cache")
	}
	n, err := s.Restore(t.Context())
	must(t, err)
	if left := resident(t, f, size); left != 0 || n != 0 {
		t.Errorf("%d pages are cached after restoring a file that was only read (%d bytes restored)", left, n)
	}
	if from, end, err := nextData(f, 0, size); err != nil || from != 0 || end != 1<<20 {
		t.Errorf("data from %d to %d, want the first MiB: %v", from, end, err)
	}
	var st unix.Stat_t
	must(t, unix.Fstat(int(f.Fd()), &st))
	if st.Blocks*512 < size {
		t.Errorf("%d bytes are allocated, were %d", st.Blocks*512, size)
	}
}

// resident counts the file's pages in the cache.
func resident(t *testing.T, f *os.File, size int) int {
	t.Helper()
	m, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED)
	must(t, err)
	defer unix.Munmap(m)
	vec := make([]byte, (size+os.Getpagesize()-1)/os.Getpagesize())
	must(t, mincore(m, vec))
	n := 0
	for _, v := range vec {
		n += int(v & 1)
	}
	return n
}
