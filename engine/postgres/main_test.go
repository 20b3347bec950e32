package postgres

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"filewise/internal/longtest"
	"filewise/internal/mark"
)

// shm is where the servers of the tests work, if it is there: what the storage
// does is not tested here, and a thousand small files for each build are slow on it.
const shm = "/dev/shm"

// markOf in the environment makes the test binary say a mark for that name, and
// end: the mark of a process that is dead.
const markOf = "TEST_FILEWISE_MARK_OF"

func TestMain(m *testing.M) {
	if name := os.Getenv(markOf); name != "" {
		sign, err := mark.New(name, time.Now())
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

func deadMark(t *testing.T, name string) string {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), markOf+"="+name)
	out, err := cmd.Output()
	must(t, err)
	return strings.TrimSpace(string(out))
}
