package machine

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"filewise"
)

// Groups of both versions are found, nearest to the process first; one of version 2 that
// does not hand the controller on is passed over.
func TestMemoryParents(t *testing.T) {
	root := t.TempDir()
	for file, text := range map[string]string{
		"one/mine/tasks": "", "two/cgroup.subtree_control": "cpu memory\n", "two/a/cgroup.subtree_control": "memory pids\n",
		"two/a/b/cgroup.subtree_control": "\n",
	} {
		path := filepath.Join(root, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	mounts := []Mount{{Type: "cgroup", Point: filepath.Join(root, "one"), Options: []string{"rw", "memory"}},
		{Type: "cgroup", Point: filepath.Join(root, "other"), Options: []string{"rw", "cpu"}},
		{Type: "cgroup2", Point: filepath.Join(root, "two")}}
	var got []string
	for _, p := range memoryParents(mounts, "4:memory:/mine\n0::/a/b\n") {
		if p.unified != strings.Contains(p.dir, "two") {
			t.Errorf("%s is taken for the other version", p.dir)
		}
		got = append(got, strings.TrimPrefix(p.dir, root))
	}
	if want := "/one/mine /one /two/a /two"; strings.Join(got, " ") != want {
		t.Errorf("groups %q, want %s", got, want)
	}
}

// What a process of the group writes stays in memory as far as the limit goes; without the right to make groups, the
// error states that.
func TestLimitMemory(t *testing.T) {
	const limit = 48 << 20
	g, err := LimitMemory(limit)
	if err != nil {
		if filewise.CodeOf(err) != filewise.CodePreflight || filewise.RemedyOf(err) == "" {
			t.Fatal(err)
		}
		t.Skip(err) // no right of this machine's, not something to install
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "read go; dd if=/dev/zero of=\"$0\" bs=1M count=96 2>/dev/null; read end",
		filepath.Join(t.TempDir(), "file"))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := g.Add(cmd.Process.Pid); err != nil {
		t.Error(err)
	}
	if _, err := in.Write([]byte("go\nend\n")); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	for _, file := range []string{"memory.max_usage_in_bytes", "memory.peak"} {
		if most, ok := (roots{sys: g.dirs[0]}).most(file); ok && (most > limit || most < limit/2) {
			t.Errorf("the group had %d bytes, of a limit of %d", most, limit)
		}
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}

// A server's children that were there before the server was limited are limited with it.
func TestLimitMemoryOfChildren(t *testing.T) {
	g, err := LimitMemory(48 << 20)
	if err != nil {
		t.Skip(err) // TestLimitMemory looks at why
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "(sh -c 'echo started; read end') <&0; read end")
	in, noIn := cmd.StdinPipe()
	out, noOut := cmd.StdoutPipe()
	if err := errors.Join(noIn, noOut, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	started := bufio.NewReader(out)
	if line, err := started.ReadString('\n'); err != nil {
		t.Fatal(line, err)
	}
	if err := g.Add(cmd.Process.Pid); err != nil {
		t.Error(err)
	}
	limited, err := os.ReadFile(filepath.Join(g.dirs[0], "cgroup.procs"))
	if n := len(strings.Fields(string(limited))); n < 2 || err != nil {
		t.Errorf("processes %q are limited (%v), want the first and what it had started", limited, err)
	}
	if _, err := in.Write([]byte("end\nend\n")); err != nil {
		t.Error(err)
	}
	if err := errors.Join(cmd.Wait(), g.Close()); err != nil {
		t.Error(err)
	}
}

func (r roots) most(file string) (int64, bool) { return parseInt(r.sysText(file)) }
