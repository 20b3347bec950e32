package filesystem

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestPreallocateHoldsStorage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const size = 3 << 20
	if err := Preallocate(f, size); errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	held, ok := Allocated(path, info)
	if info.Size() != size || ok && held < size {
		t.Errorf("%d bytes, of which the storage holds %d (%v)", info.Size(), held, ok)
	}
}

func TestAllocatedOfASparseFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if held, ok := Allocated(path, info); ok && (held < 0 || held > 1<<20) {
		t.Errorf("the storage holds %d bytes of a file of one", held)
	}
	if _, ok := Allocated(filepath.Join(path, "none"), nothing{info}); ok {
		t.Error("a file that is not there has storage")
	}
}

// nothing stands for facts of a file that only another platform has.
type nothing struct{ os.FileInfo }

func (nothing) Sys() any { return nil }

func TestOpenItselfFollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "f"), filepath.Join(dir, "l")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := OpenItself(path)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err) // Windows lets only some users make links
	}
	if f, err := OpenItself(link); err == nil {
		f.Close()
		t.Error("what a link points to was opened")
	}
}

func TestFreeAndFull(t *testing.T) {
	dir := t.TempDir()
	if free, err := Free(dir); err != nil || free <= 0 {
		t.Errorf("%d, %v", free, err)
	}
	if _, err := Free(filepath.Join(dir, "none")); err == nil || Full(err) {
		t.Errorf("a directory that is not there: %v", err)
	}
	if err := SyncDir(dir); err != nil {
		t.Error(err)
	}
}
