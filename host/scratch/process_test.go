package scratch

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"filewise/internal/process"
)

// server starts a process in dir that is ended with the test.
func server(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sleep", "60")
	cmd.Dir, cmd.Env = dir, []string{"A=b"}
	must(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd
}

func identify(t *testing.T, cmd *exec.Cmd) process.Identity {
	t.Helper()
	id, err := process.Of(cmd.Process.Pid)
	must(t, err)
	return id
}

// A process that shows its marker only a while after it was started, as while the kernel sets it up, is registered; one
// that ends in that time is not waited for.
func TestAddProcessThatStartsSlowly(t *testing.T) {
	r, volume := setup(t)
	d, err := r.Create(volume, "")
	must(t, err)
	slow := exec.Command("sh", "-c", `sleep 0.2; cd "$(cat)" && exec sleep 60`)
	slow.Dir, slow.Env, slow.Stdin = "/", []string{"PATH=" + os.Getenv("PATH")}, strings.NewReader(d.Path)
	must(t, slow.Start())
	t.Cleanup(func() { slow.Process.Kill(); slow.Wait() })
	must(t, d.AddProcess(slow.Process.Pid))
	brief := exec.Command("sleep", "0.1")
	brief.Dir = "/"
	must(t, brief.Start())
	ended := make(chan error, 1)
	go func() { ended <- brief.Wait() }()
	start := time.Now()
	if err := d.AddProcess(brief.Process.Pid); err == nil || time.Since(start) >= markerPatience {
		t.Errorf("a process without the mark, that ends: %v after %v", err, time.Since(start))
	}
	must(t, <-ended)
}

func TestSweepEndsOrphanedServers(t *testing.T) {
	r, volume := setup(t)
	e := orphan(t, r, volume)
	ours, reused := server(t, e.path()), server(t, e.path())
	other := identify(t, reused)
	older := other
	older.Start-- // the server that had this PID before
	e.Processes = []process.Identity{identify(t, ours), older}
	must(t, r.write(e))
	l := sweepOne(t, r)
	if !l.Removed || present(e.path()) || len(l.Processes) != 1 || l.Processes[0] != ours.Process.Pid {
		t.Errorf("%+v", l)
	}
	if e.Processes[0].Status() != process.Dead {
		t.Error("the orphan still runs")
	}
	if other.Status() != process.Alive {
		t.Error("a process that was given the PID later was ended")
	}
}

func TestSweepLeavesUnmarkedProcess(t *testing.T) {
	r, volume := setup(t)
	e := orphan(t, r, volume)
	other := server(t, "/")
	e.Processes = []process.Identity{identify(t, other)}
	must(t, r.write(e))
	mustKeep(t, sweepOne(t, r), "does not carry the marker")
	if e.Processes[0].Status() != process.Alive || !present(e.path()) {
		t.Error("ended or removed")
	}
}

func TestAddProcess(t *testing.T) {
	r, volume := setup(t)
	d, err := r.Create(volume, "")
	must(t, err)
	r.patience = 100 * time.Millisecond
	if err := d.AddProcess(server(t, "/").Process.Pid); err == nil {
		t.Error("a process without the mark was registered")
	}
	r.patience = 0
	cmd := server(t, d.Path)
	must(t, d.AddProcess(cmd.Process.Pid))
	must(t, d.AddProcess(cmd.Process.Pid))
	e, err := r.read(d.ID)
	if err != nil || len(e.Processes) != 1 || e.Processes[0] != identify(t, cmd) {
		t.Errorf("registered %+v, %v", e.Processes, err)
	}
	if err := d.Remove(); err == nil || !present(d.Path) {
		t.Errorf("removed under a running server: %v", err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	if err := d.Remove(); err != nil || present(d.Path) {
		t.Errorf("after its end: %v", err)
	}
	if err := d.AddProcess(os.Getpid()); err == nil {
		t.Error("a process was added to a removed directory")
	}
}
