package planted

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

const (
	childEnv  = "FILEWISE_PLANTED_CHILD"
	childMade = "the storage is made"
)

// TestWhatAKilledRunLeaves is removed by the next run.
func TestWhatAKilledRunLeaves(t *testing.T) {
	if os.Getenv(childEnv) != "" {
		newStorage(t, usual, usual).limit(t)
		os.Stdout.WriteString(childMade + "\n")
		<-t.Context().Done() // killed before
		return
	}
	check(t, Need())
	runtime.LockOSThread() // whose end would be taken for ours
	defer runtime.UnlockOSThread()
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestWhatAKilledRunLeaves$", "-test.timeout=2m")
	child.Env = append(os.Environ(), childEnv+"=1")
	child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	var said []string
	made := false
	for lines := bufio.NewScanner(out); !made && lines.Scan(); {
		said = append(said, lines.Text())
		made = lines.Text() == childMade
	}
	if err := child.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Error(err)
	}
	_ = child.Wait() // it was killed
	if !made {
		check(t, unable("the storage of another process: %s", strings.Join(said, "\n")))
	}
	if l := left(t); len(l) != 6 {
		t.Errorf("a killed run leaves %q; want a directory, two mounts, two loop devices and a cgroup", l)
	}
	t.Run("next", func(t *testing.T) { newStorage(t, usual) })
	if l := left(t); len(l) > 0 {
		t.Errorf("the next run leaves %q", l)
	}
}

// left returns these tests' leftovers on the machine.
func left(t testing.TB) []string {
	t.Helper()
	root := workDir()
	place, err := findPlace()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, path := range []string{root, place.group()} {
		if _, err := os.Stat(path); err == nil {
			all = append(all, path)
		}
	}
	mounts, err := mountPoints()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mounts {
		if strings.HasPrefix(m.dir, root+"/") {
			all = append(all, m.dir)
		}
	}
	loops, err := loopsIn(root)
	if err != nil {
		t.Fatal(err)
	}
	return append(all, loops...)
}
