package sqlite

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"filewise/internal/fault"
)

// A file that cannot be opened shows the fault of the host behind that.
func TestOpenShowsFaults(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	none := before
	none.Cur = 0
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &none); err != nil {
		t.Fatal(err)
	}
	_, err := open(path)
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	if !fault.TooManyFiles(err) {
		t.Errorf("no file may be opened: %v", err)
	}
}
