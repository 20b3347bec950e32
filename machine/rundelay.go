package machine

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// RunDelay is how long the threads of a process that it has now were ready to run and
// waited for a processor (Linux's Documentation/scheduler/sched-stats.rst). A thread that
// ends takes its part along. ok is false where the kernel does not tell.
func RunDelay(pid int) (d time.Duration, ok bool) {
	threads, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/schedstat")
	for _, path := range threads {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has just ended
		}
		if fields := strings.Fields(string(text)); len(fields) == 3 {
			if n, known := parseInt(fields[1]); known {
				d, ok = d+time.Duration(n), true
			}
		}
	}
	return d, ok
}
