package postgres

import (
	"archive/tar"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filewise"
)

// Directories and files are in their places; what is damaged, and what is placed nowhere,
// is not.
func TestUnpack(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "1.tar")
	f, err := os.Create(path)
	archiveMust(t, err)
	w := tar.NewWriter(f)
	content := strings.Repeat("a", 70_000)
	for _, h := range []tar.Header{{Typeflag: tar.TypeDir, Name: "empty"}, {Typeflag: tar.TypeReg, Name: "sub/a", Size: int64(len(content))},
		{Typeflag: tar.TypeReg, Name: "no"}, {Typeflag: tar.TypeSymlink, Name: "link", Linkname: "a"}} {
		archiveMust(t, w.WriteHeader(&h))
		if h.Size > 0 {
			_, err := w.Write([]byte(content))
			archiveMust(t, err)
		}
	}
	archiveMust(t, errors.Join(w.Close(), f.Close()))
	place := func(name string) (string, error) {
		if name == "in/no" {
			return "", nil
		}
		return filepath.Join(dir, name), nil
	}
	archiveMust(t, unpack(t.Context(), path, "in", place))
	got, err := os.ReadFile(filepath.Join(dir, "in/sub/a"))
	if info, dirErr := os.Stat(filepath.Join(dir, "in/empty")); err != nil || string(got) != content || dirErr != nil || !info.IsDir() {
		t.Errorf("%d bytes, %v; %v", len(got), err, dirErr)
	}
	for _, name := range []string{"in/no", "in/link"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is there: %v", name, err)
		}
	}
	archiveMust(t, os.Truncate(path, 2000))
	if err := unpack(t.Context(), path, "again", place); !errors.Is(err, filewise.ErrCheck) {
		t.Errorf("a damaged archive: %v", err)
	}
}

func archiveMust(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
