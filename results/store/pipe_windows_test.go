package store

import (
	"os"
	"testing"
)

// makePipe makes a directory: there are no pipes among files.
func makePipe(t *testing.T, path string) {
	t.Helper()
	must(t, os.Mkdir(path, 0o700))
}
