package hostlock

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"filewise"
)

// TestMain lets tests run this binary as another process that takes the lock.
func TestMain(m *testing.M) {
	if os.Getenv("HOSTLOCK_TEST_CHILD") != "" {
		child()
	}
	os.Exit(m.Run())
}

// child reports that it is ready, waits for the starting line, tries, states how it went, and holds what it has until
// its standard input ends.
func child() {
	in := bufio.NewReader(os.Stdin)
	fmt.Println("ready")
	in.ReadString('\n')
	_, err := Acquire(context.Background(), Holder{Run: "12", What: "inserts on sqlite"})
	if err != nil {
		fmt.Println(filewise.CodeOf(err), err)
	} else {
		fmt.Println("won")
	}
	io.Copy(io.Discard, in)
	os.Exit(0)
}

// contender is a child process.
type contender struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

// contend starts a child and waits until it is ready.
func contend(t *testing.T, binary string, attributes *syscall.SysProcAttr) *contender {
	t.Helper()
	binary, err := filepath.Abs(binary)
	must(t, err)
	c := &contender{cmd: exec.Command(binary)}
	c.cmd.Env = append(os.Environ(), "HOSTLOCK_TEST_CHILD=1")
	c.cmd.SysProcAttr = attributes
	c.cmd.Dir = "/"
	in, err := c.cmd.StdinPipe()
	must(t, err)
	out, err := c.cmd.StdoutPipe()
	must(t, err)
	must(t, c.cmd.Start())
	t.Cleanup(c.kill)
	c.in, c.out = in, bufio.NewScanner(out)
	if got := c.line(t); got != "ready" {
		t.Fatalf("child: %q", got)
	}
	return c
}

func (c *contender) line(t *testing.T) string {
	t.Helper()
	if !c.out.Scan() {
		t.Fatalf("child ended: %v", c.out.Err())
	}
	return c.out.Text()
}

func (c *contender) try(t *testing.T) string {
	t.Helper()
	fmt.Fprintln(c.in, "go")
	return c.line(t)
}

func (c *contender) kill() {
	c.cmd.Process.Kill()
	c.cmd.Wait()
}

// setup gives the test a separate lock.
func setup(t *testing.T) {
	t.Helper()
	t.Setenv("FILEWISE_LOCK", fmt.Sprintf("filewise-test-%d-%s", os.Getpid(), strings.ReplaceAll(t.Name(), "/", "-")))
}

func acquire(t *testing.T, h Holder) *Lock {
	t.Helper()
	l, err := Acquire(t.Context(), h)
	must(t, err)
	t.Cleanup(func() { l.Release() })
	return l
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// publicBinary is a copy of this binary that all users can run.
func publicBinary(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "filewise-test-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	b, err := os.ReadFile(os.Args[0])
	must(t, err)
	path := filepath.Join(dir, "child")
	must(t, os.WriteFile(path, b, 0o755))
	must(t, os.Chmod(dir, 0o755))
	return path
}
