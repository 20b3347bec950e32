package scratch

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// A path that is not UTF-8 is found again, byte by byte.
func TestPathsAreBytes(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other systems have paths of characters")
	}
	r, volume := &Registry{dir: t.TempDir()}, filepath.Join(t.TempDir(), "donn\xe9es")
	if err := os.Mkdir(volume, 0o700); err != nil {
		t.Skip(err) // a file system of characters
	}
	e, err := newEntry(volume, "killed")
	if err != nil {
		t.Fatal(err)
	}
	e.Owner.Start++ // another process had the number
	if err := r.write(e); err != nil {
		t.Fatal(err)
	}
	life, err := makeMarked(e)
	if err != nil {
		t.Fatal(err)
	}
	if err := life.Close(); err != nil {
		t.Fatal(err)
	}
	left, err := r.Sweep(t.Context())
	if err != nil || len(left) != 1 || !left[0].Removed || left[0].Path != e.path() {
		t.Errorf("%+v, %v", left, err)
	}
	if _, err := os.Lstat(e.path()); !os.IsNotExist(err) {
		t.Errorf("it is there still: %v", err)
	}
}
