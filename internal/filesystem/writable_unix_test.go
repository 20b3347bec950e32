//go:build unix

package filesystem

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// What is not there yet can be made if the nearest directory above it allows that.
func TestWritable(t *testing.T) {
	dir := t.TempDir()
	file, closed := filepath.Join(dir, "file"), filepath.Join(dir, "closed")
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Mkdir(closed, 0o500)); err != nil {
		t.Fatal(err)
	}
	if err := Writable(filepath.Join(dir, "a", "b")); err != nil {
		t.Error(err)
	}
	if err := Writable(filepath.Join(file, "a", "b")); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("below a file: %v", err)
	}
	if err := Writable(filepath.Join(closed, "a")); os.Getuid() != 0 && !errors.Is(err, fs.ErrPermission) {
		t.Errorf("below a directory that is closed: %v", err)
	}
}
