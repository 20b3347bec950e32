package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"filewise/internal/longtest"
)

// TestMain also makes this test binary the program filewise on PATH, for scripts and for the tests that kill it: what
// they run is this very code, with the race detector if the tests have it.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) != "filewise" {
		forgetEnvironment()
	}
	addMemory()
	makeVirtual()
	if filepath.Base(os.Args[0]) != "filewise" {
		longtest.AtOnce(3)
		longtest.Leave("^Test(CutLine|ServerGone|LostLock|OwnDatabase)$/^mariadb$") // PostgreSQL's take the same way above the engines
	}
	testscript.Main(m, map[string]func(){"filewise": checkedMain})
}

// attackVariable is set when proof/attack runs a test.
const attackVariable = "TEST_FILEWISE_ATTACK"

// everything reports that the long part is to run too: scripts/test --all, of which nothing is skipped.
func everything() bool { return os.Getenv("TEST_FILEWISE_ALL") != "" }

// forgetEnvironment unsets the user's variables: tests have their own, below TEST_FILEWISE_, which
// the program does not take for misspelt ones of its own.
func forgetEnvironment() {
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, "FILEWISE_") {
			os.Unsetenv(name)
		}
	}
	os.Setenv("FILEWISE_STORAGE_LIMIT", "off") // fio takes its time once; kills would come within it
}

// TestScript drives the whole command line; the scripts are in testdata/script.
// Every one has its own store, state and measuring lock, so they run in parallel:
// none asserts a figure or a verdict.
func TestScript(t *testing.T) {
	// With some of the scripts chosen, testscript leaves the directory in which it makes theirs.
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	before := os.Getenv("GOTMPDIR")
	defer func() { os.Setenv("GOTMPDIR", before) }() // before any script begins: they are parallel
	os.Setenv("GOTMPDIR", dir)
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Condition:           condition,
		Setup: func(env *testscript.Env) error {
			env.Setenv("FILEWISE_STORAGE_LIMIT", "off") // fio takes its time once
			env.Setenv("FILEWISE_STORE", filepath.Join(env.WorkDir, "store.db"))
			env.Setenv("FILEWISE_STATE", filepath.Join(env.WorkDir, stateDir))
			env.Setenv("FILEWISE_LOCK", fmt.Sprintf("filewise-test-%d-%s", os.Getpid(), filepath.Base(env.WorkDir)))
			env.Setenv("TINY", tiny)
			env.Setenv("MEMORY_SERVER", filepath.Join(env.WorkDir, "server"))
			return os.Mkdir(filepath.Join(env.WorkDir, stateDir), 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":     exits,
			"refused":   refusedCmd,
			"json":      jsonCmd,
			"csv":       csvCmd,
			"measured":  measured,
			"clean":     nothingLeft,
			"newstore":  newStore,
			"sqlite":    sqliteCmd,
			"overwrite": overwrite,
			"tmpfs":     tmpfs,
			"until":     untilCmd,
			"helps":     helps,
			"builds":    buildsCmd,
			"nosecret":  noSecret,
			"waitrun":   waitRun,
		},
	})
}

// tiny are the flags of a run of a few seconds that proves nothing.
const tiny = "--files=1,2 --window=200ms --warm-up=50ms --max-blocks=3 --size=1MiB --connections=4 --durability=off --seed=1"

// stateDir is the scripts' FILEWISE_STATE, below $WORK.
const stateDir = ".state"

func condition(cond string) (bool, error) {
	switch cond {
	case "root":
		return os.Geteuid() == 0, nil
	case "mount":
		return canMount(), nil
	case "mariadb":
		why := whyNoServer()
		if why != "" && os.Getenv("CI") == "true" {
			return false, fmt.Errorf("the commands were not tried on MariaDB: %s", why)
		}
		return why == "", nil
	}
	return false, fmt.Errorf("unknown condition %q", cond)
}
