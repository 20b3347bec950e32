package drive

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// readClocks reads the monotonic clock, how long the machine was suspended (CLOCK_BOOTTIME counts that time,
// CLOCK_MONOTONIC does not), and the time that other virtual machines took.
func readClocks() clocks {
	c := clocks{at: time.Now()}
	var boot, mono unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot) == nil && unix.ClockGettime(unix.CLOCK_MONOTONIC, &mono) == nil {
		c.suspended = time.Duration(boot.Nano() - mono.Nano())
	}
	c.stolen = stolen.read(c.at)
	return c
}

// stealing caches the stolen time. It is read only now and then, because the kernel generates all of /proc/stat for it.
type stealing struct {
	mu   sync.Mutex
	at   time.Time
	took time.Duration
}

var stolen stealing

func (s *stealing) read(now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.at) < stealEvery*beatEvery/2 {
		return s.took
	}
	s.at = now
	file, err := os.Open("/proc/stat")
	if err != nil {
		return s.took
	}
	defer func() { _ = file.Close() }() // opened for reading only
	line := make([]byte, 256)
	n, _ := file.Read(line)
	line, _, _ = bytes.Cut(line[:n], []byte("\n"))
	const stealField, userHz = 8, 100 // man 5 proc_stat; USER_HZ is 100 on every architecture that Go supports
	if f := bytes.Fields(line); len(f) > stealField {
		if ticks, err := strconv.ParseInt(string(f[stealField]), 10, 64); err == nil {
			s.took = time.Duration(ticks) * time.Second / userHz / time.Duration(runtime.NumCPU())
		}
	}
	return s.took
}
