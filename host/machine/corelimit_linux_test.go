package machine

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"filewise"
)

// A bound process, its children and what these start run on the chosen processors alone.
func TestLimitCores(t *testing.T) {
	var allowed unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		t.Fatal(err)
	}
	l, err := LimitCores(1)
	if err != nil {
		t.Fatal(err)
	}
	parent := exec.CommandContext(t.Context(), "sh", "-c", "cat & echo started; read x; nproc")
	in, err := parent.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	var line string
	if _, err := fmt.Fscan(out, &line); err != nil {
		t.Fatal(err)
	}
	if err := l.Add(parent.Process.Pid); err != nil {
		t.Fatal(err)
	}
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", parent.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	var child int
	if _, err := fmt.Sscan(string(children), &child); err == nil { // cat may have ended
		var set unix.CPUSet
		if err := unix.SchedGetaffinity(child, &set); err == nil && set.Count() != 1 {
			t.Errorf("a child may run on %d processors", set.Count())
		}
	}
	fmt.Fprintln(in)
	if _, err := fmt.Fscan(out, &line); err != nil || line != "1" {
		t.Errorf("nproc says %q in a process bound to one: %v", line, err)
	}
	_ = in.Close()
	_ = parent.Wait()
	if _, err := LimitCores(allowed.Count() + 1); filewise.CodeOf(err) != filewise.CodePreflight ||
		!strings.Contains(filewise.RemedyOf(err), fmt.Sprintf("--cores %d", allowed.Count())) {
		t.Errorf("more processors than there are: %v", err)
	}
}

func TestProcessorsOfOneNodeFirst(t *testing.T) {
	var set unix.CPUSet
	for c := range 6 {
		set.Set(c)
	}
	got := byNode(set, func(cpu int) int { return cpu % 2 })
	if fmt.Sprint(got) != "[0 2 4 1 3 5]" {
		t.Errorf("%v", got)
	}
}
