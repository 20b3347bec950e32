package planted

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
)

// way is how fio writes.
type way []string

// Blkio cgroups of version 1 charge what is written to whom submits it: direct
// writes, and of buffered ones those that the writer's own fsync writes back. Pages
// that the kernel's flusher gets hold of first, which takes seconds, escape. SQLite
// writes buffered and syncs at the end of a backup that takes a second: synced is
// the control that looks like it.
var (
	direct = way{"--direct=1", "--bs=256k"}
	synced = way{"--direct=0", "--bs=64k", "--end_fsync=1"}
)

// fioPatience bounds a control run of seconds.
const fioPatience = 30 * time.Second

// fio writes so many bytes to the volumes, to all at once, from within the cgroup,
// and returns how long that took on each.
func (s *storage) fio(t testing.TB, how way, bytes map[string]int64) map[string]time.Duration {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), fioPatience)
	defer cancel()
	times, errs := make([]time.Duration, len(s.slow)), make([]error, len(s.slow))
	var wg sync.WaitGroup
	for i, v := range s.slow {
		if n := bytes[v.Name]; n > 0 {
			wg.Go(func() { times[i], errs[i] = fioOn(ctx, v.Dir, n, how) })
		}
	}
	wg.Wait()
	took := map[string]time.Duration{}
	for i, v := range s.slow {
		if errs[i] != nil {
			unable(t, "fio on volume %s: %v", v.Name, errs[i])
		}
		if bytes[v.Name] > 0 {
			took[v.Name] = times[i]
		}
	}
	return took
}

func fioOn(ctx context.Context, dir string, bytes int64, how way) (time.Duration, error) {
	args := append([]string{"--name=control", "--directory=" + dir, "--size=" + strconv.FormatInt(bytes/4096*4096, 10),
		"--rw=write", "--thread", "--ioengine=psync", "--fallocate=none", "--unlink=1", "--output-format=json"}, how...)
	runtime.LockOSThread() // whose end would be taken for ours
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(ctx, "fio", args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.Output()
	if err != nil {
		return 0, err
	}
	var report struct {
		Jobs []struct {
			Write struct {
				Milliseconds float64 `json:"runtime"`
			} `json:"write"`
		} `json:"jobs"`
	}
	if err := json.Unmarshal(out, &report); err != nil {
		return 0, fmt.Errorf("%w in %q", err, out)
	}
	if len(report.Jobs) != 1 || report.Jobs[0].Write.Milliseconds <= 0 {
		return 0, fmt.Errorf("no time in %q", out)
	}
	return time.Duration(report.Jobs[0].Write.Milliseconds * float64(time.Millisecond)), nil
}

const (
	controlTime     = 1    // seconds at the planted speed
	controlOff      = 0.15 // of the planted speed
	controlAttempts = 3
)

// prove measures the volumes, all at once, and has the test not believe in a
// throttle that does not hold.
func (s *storage) prove(t testing.TB) {
	t.Helper()
	for attempt := 1; ; attempt++ {
		wrong := s.control(t, "directly", direct) + s.control(t, "buffered and synced at the end", synced)
		if wrong == "" {
			return
		}
		if attempt == controlAttempts {
			unable(t, "the throttle does not hold: %s", wrong)
		}
	}
}

// control says which volumes do not have their speeds.
func (s *storage) control(t testing.TB, name string, how way) (wrong string) {
	t.Helper()
	bytes := map[string]int64{}
	for _, v := range s.slow {
		bytes[v.Name] = controlTime * v.bytes
	}
	took := s.fio(t, how, bytes)
	for _, v := range s.slow {
		measured := float64(bytes[v.Name]) / took[v.Name].Seconds()
		off := measured/float64(v.bytes) - 1
		line := fmt.Sprintf("written %s, volume %s takes %.2f MB/s, planted are %.2f (%+.1f %%); ", name, v.Name, measured/1e6,
			float64(v.bytes)/1e6, 100*off)
		t.Log("control: " + line)
		if !(math.Abs(off) <= controlOff) {
			wrong += line
		}
	}
	return wrong
}
