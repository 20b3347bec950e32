package filesystem

import (
	"os"
	"path/filepath"
	"testing"
)

// A file with a hole is in two pieces at the least, if the file system returns the number.
func TestExtents(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int64{0, 8 << 20} {
		if _, err := f.WriteAt(make([]byte, 1<<16), at); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if n, ok := Extents(path); ok && n < 2 {
		t.Errorf("a file with a hole lies in %d pieces", n)
	}
	if _, ok := Extents(path + ".none"); ok {
		t.Error("a file that is not there has extents")
	}
}
