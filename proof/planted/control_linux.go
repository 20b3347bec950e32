package planted

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// Way is fio's way to write, or read.
type Way []string

// Blkio cgroups of version 1 charge writes to the process that submits them: direct writes and, of buffered writes, the
// ones that the writer's own fsync writes back. Pages that the kernel's flusher writes first, which takes seconds,
// escape. SQLite writes buffered and syncs at the end of a backup that takes a second. Synced is the control for that.
var (
	Direct = Way{"--rw=write", "--direct=1", "--bs=256k"}
	Synced = Way{"--rw=write", "--direct=0", "--bs=64k", "--end_fsync=1"}
	Read   = Way{"--rw=read", "--direct=1", "--bs=256k"}
)

// fioPatience limits the time of a control run that takes seconds.
const fioPatience = 30 * time.Second

// Fio writes the bytes to the volumes, or reads them, on all at once and from within the cgroup. It returns the time on
// each volume.
func (s *Storage) Fio(ctx context.Context, how Way, bytes map[string]int64) (map[string]time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, fioPatience)
	defer cancel()
	times, errs := make([]time.Duration, len(s.Slow)), make([]error, len(s.Slow))
	var wg sync.WaitGroup
	for i, v := range s.Slow {
		if n := bytes[v.Name]; n > 0 {
			wg.Go(func() { times[i], errs[i] = fioOn(ctx, v.Dir, n, how) })
		}
	}
	wg.Wait()
	took := map[string]time.Duration{}
	for i, v := range s.Slow {
		if errs[i] != nil {
			return nil, unable("fio on volume %s: %w", v.Name, errs[i])
		}
		if bytes[v.Name] > 0 {
			took[v.Name] = times[i]
		}
	}
	return took, nil
}

func fioOn(ctx context.Context, dir string, bytes int64, how Way) (time.Duration, error) {
	args := append([]string{"--name=control", "--directory=" + dir, "--size=" + strconv.FormatInt(bytes/4096*4096, 10),
		"--thread", "--ioengine=psync", "--fallocate=none", "--unlink=1", "--output-format=json"}, how...)
	runtime.LockOSThread() // the thread's end would be taken for this process's
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(ctx, "fio", args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("%w: %s", err, out)
	}
	var report struct {
		Jobs []struct{ Write, Read struct{ Runtime float64 } } // ms
	}
	if err := json.Unmarshal(out, &report); err != nil {
		return 0, fmt.Errorf("%w in %q", err, out)
	}
	if len(report.Jobs) != 1 || report.Jobs[0].Write.Runtime+report.Jobs[0].Read.Runtime <= 0 {
		return 0, fmt.Errorf("no time in %q", out)
	}
	return time.Duration((report.Jobs[0].Write.Runtime + report.Jobs[0].Read.Runtime) * float64(time.Millisecond)), nil
}

const (
	controlTime     = 2.0  // seconds at the planted speed
	controlOff      = 0.15 // of the planted speed
	controlAttempts = 3
)

// Prove measures the volumes, all at once. Its error names the volumes that do not have their speeds. It passes each
// one's result to says.
func (s *Storage) Prove(ctx context.Context, says func(string)) error {
	ways := map[string]Way{"written directly": Direct, "written buffered and synced at the end": Synced}
	if slices.ContainsFunc(s.Slow, func(d Device) bool { return d.Reads }) {
		ways["read directly"] = Read
	}
	for attempt := 1; ; attempt++ {
		wrong := ""
		for name, how := range ways {
			more, err := s.control(ctx, says, name, how)
			if err != nil {
				return err
			}
			wrong += more
		}
		if wrong == "" {
			return nil
		}
		if attempt == controlAttempts {
			return unable("the throttle does not hold: %s", wrong)
		}
	}
}

// control returns which volumes do not have their speeds.
func (s *Storage) control(ctx context.Context, says func(string), name string, how Way) (wrong string, err error) {
	bytes := map[string]int64{}
	for _, v := range s.Slow {
		bytes[v.Name] = int64(controlTime * float64(v.Bytes))
	}
	took, err := s.Fio(ctx, how, bytes)
	if err != nil {
		return "", err
	}
	for _, v := range s.Slow {
		if v.Bytes == 0 {
			continue
		}
		measured := float64(bytes[v.Name]) / took[v.Name].Seconds()
		off := measured/float64(v.Bytes) - 1
		line := fmt.Sprintf("%s, volume %s has %.2f MB/s, planted are %.2f (%+.1f %%); ", name, v.Name, measured/1e6,
			float64(v.Bytes)/1e6, 100*off)
		says("control: " + line)
		if !(math.Abs(off) <= controlOff) {
			wrong += line
		}
	}
	return wrong, nil
}
