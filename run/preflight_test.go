package run

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"filewise"
)

// A volume that is unmounted in mid-run, or replaced, is seen at once, and its coming back too; so is a lack of space
// on it.
func TestGuardVolume(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "volume")
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	do(os.Mkdir(dir, 0o700))
	ask := guard([]filewise.Volume{{Name: "here", Dir: dir}})
	refused := func(what string) {
		t.Helper()
		err := ask()
		if filewise.CodeOf(err) != filewise.CodePreflight || !strings.Contains(err.Error(), "volume here") ||
			!strings.Contains(filewise.RemedyOf(err), "resume") {
			t.Errorf("%s: %v", what, err)
		}
	}
	do(ask())
	do(os.Rename(dir, dir+".away"))
	refused("gone")
	do(os.Mkdir(dir, 0o700))
	refused("another one in its place")
	do(os.Remove(dir))
	do(os.Rename(dir+".away", dir))
	do(ask())
	if runtime.GOOS == "linux" { // nothing is free there
		ask = guard([]filewise.Volume{{Name: "here", Dir: "/proc"}})
		refused("no 16 MiB left")
	}
}
