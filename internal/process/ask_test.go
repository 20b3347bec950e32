//go:build linux

package process

import (
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"
)

func TestAsk(t *testing.T) {
	start := func(script string) (*exec.Cmd, Identity) {
		cmd := exec.Command("sh", "-c", script)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		if _, err := out.Read(make([]byte, 1)); err != nil { // its traps are set
			t.Fatal(err)
		}
		id, err := Of(cmd.Process.Pid)
		if err != nil {
			t.Fatal(err)
		}
		return cmd, id
	}
	cmd, id := start("trap 'exit 7' TERM; echo; while :; do sleep 0.01; done")
	other := id
	other.Start++ // the number was given to another process
	if err := other.Ask(t.Context(), time.Second, nil, nil); err != nil || id.Status() != Alive {
		t.Errorf("another process: %v, it is %s", err, id.Status())
	}
	far := id
	far.Boot, far.Host = "another", "another"
	if err := far.Ask(t.Context(), time.Second, nil, nil); err == nil || id.Status() != Alive {
		t.Errorf("a process of another host: %v, it is %s", err, id.Status())
	}
	unproved := errors.New("not proved")
	if err := id.Ask(t.Context(), time.Second, func(int) error { return unproved }, nil); !errors.Is(err, unproved) || id.Status() != Alive {
		t.Errorf("one that does not prove what it is: %v, it is %s", err, id.Status())
	}
	if err := id.Ask(t.Context(), 10*time.Second, nil, nil); err != nil {
		t.Error(err)
	}
	if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != 7 {
		t.Errorf("it did not end by itself: %v", cmd.ProcessState)
	}
	_, id = start("trap '' TERM; echo; while :; do sleep 0.01; done")
	if err := id.Ask(t.Context(), 50*time.Millisecond, nil, nil); err == nil || !strings.Contains(err.Error(), "still runs") ||
		id.Status() != Alive {
		t.Errorf("one that does not end: %v, it is %s", err, id.Status())
	}
}
