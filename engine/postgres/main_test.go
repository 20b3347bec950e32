package postgres

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"filewise/internal/longtest"
	"filewise/internal/marker"
)

// shm is where the servers of the tests work, if it is there: what the storage
// does is not tested here, and a thousand small files for each build are slow on it.
const shm = "/dev/shm"

// markerOf in the environment makes the test binary say a marker for that name, and
// end: the marker of a process that is dead.
const markerOf = "TEST_FILEWISE_MARK_OF"

func TestMain(m *testing.M) {
	if name := os.Getenv(markerOf); name != "" {
		sign, err := marker.New(name, time.Now())
		if err != nil {
			panic(err)
		}
		fmt.Print(sign.Text())
		os.Exit(0)
	}
	if info, err := os.Stat(shm); err == nil && info.IsDir() && os.Getenv("TMPDIR") == "" {
		_ = os.Setenv("TMPDIR", shm) // else they are slower
	}
	longtest.Leave("^Test.*18$") // PostgreSQL 18
	longtest.AtOnce(4)           // servers, of less than a processor each
	share()
	code := m.Run()
	if err := unshare(); err != nil {
		fmt.Println(err)
		code = 1
	}
	os.Exit(code)
}

func deadMarker(t *testing.T, name string) string {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), markerOf+"="+name)
	out, err := cmd.Output()
	must(t, err)
	return strings.TrimSpace(string(out))
}
