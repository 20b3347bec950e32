//go:build unix

package store

import (
	"syscall"
	"testing"
)

func makePipe(t *testing.T, path string) {
	t.Helper()
	must(t, syscall.Mkfifo(path, 0o600))
}
