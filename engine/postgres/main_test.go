package postgres

import (
	"os"
	"testing"
)

// shm is where the servers of the tests work, if it is there: what the storage
// does is not tested here, and a thousand small files for each build are slow on it.
const shm = "/dev/shm"

func TestMain(m *testing.M) {
	if info, err := os.Stat(shm); err == nil && info.IsDir() && os.Getenv("TMPDIR") == "" {
		_ = os.Setenv("TMPDIR", shm) // else they are slower
	}
	os.Exit(m.Run())
}
