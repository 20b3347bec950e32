//go:build unix

package probe

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"filewise"
	"filewise/host/machine"
)

// readProcess reads this process's CPU time and I/O. The times come from getrusage, which resolves µs; /proc/self/stat
// resolves 10 ms.
func readProcess() ([]filewise.Counter, error) {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return nil, fmt.Errorf("getrusage: %w", err)
	}
	seconds := func(t unix.Timeval) float64 { return time.Duration(t.Nano()).Seconds() }
	all := []filewise.Counter{
		{Name: "user", Unit: "s", Value: seconds(u.Utime)},
		{Name: "system", Unit: "s", Value: seconds(u.Stime)},
		{Name: "major faults", Unit: "faults", Value: float64(u.Majflt)},
		{Name: "voluntary switches", Unit: "switches", Value: float64(u.Nvcsw)},
		{Name: "involuntary switches", Unit: "switches", Value: float64(u.Nivcsw)},
	}
	if d, ok := machine.RunDelay(os.Getpid()); ok {
		all = append(all, filewise.Counter{Name: filewise.ProcessorWait, Unit: "s", Value: d.Seconds()})
	}
	// If the kernel has no task I/O accounting, only the I/O is absent.
	if c, err := readFile("/proc/self/io", parseSelfIO); err == nil {
		all = append(all, c...)
	}
	return all, nil
}
