package machine

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/shirou/gopsutil/v4/cpu"
	gopsutilhost "github.com/shirou/gopsutil/v4/host"
	"github.com/shirou/gopsutil/v4/mem"

	"filewise"
)

// Facts returns a report's lines about the machine and its volumes. Facts that cannot be found out are left out.
func Facts(ctx context.Context, volumes []filewise.Volume) []filewise.Fact {
	var f facts
	f.processors(ctx)
	f.memory(ctx)
	f.system(ctx)
	for _, v := range volumes {
		f.volume(v)
	}
	return f
}

type facts []filewise.Fact

func (f *facts) add(name, value string) {
	if value = strings.TrimSpace(value); value != "" {
		*f = append(*f, filewise.Fact{Name: name, Value: value})
	}
}

func (f *facts) processors(ctx context.Context) {
	info, err := cpu.InfoWithContext(ctx)
	if err == nil && len(info) > 0 {
		f.add("CPU", info[0].ModelName)
	}
	logical, err := cpu.CountsWithContext(ctx, true)
	if err != nil || logical <= 0 {
		return
	}
	cores := fmt.Sprintf("%d logical", logical)
	if physical, err := cpu.CountsWithContext(ctx, false); err == nil && physical > 0 {
		cores += fmt.Sprintf(", %d physical", physical)
	}
	if n := runtime.GOMAXPROCS(0); n < logical {
		cores += fmt.Sprintf("; %d usable by Filewise", n) // affinity or a container's limit
	}
	f.add("cores", cores)
	f.add("CPU frequency governor", host.sysText("devices/system/cpu/cpu0/cpufreq/scaling_governor"))
	if nodes := countList(host.sysText("devices/system/node/online")); nodes > 1 {
		f.add("NUMA nodes", fmt.Sprint(nodes))
	}
}

func (f *facts) memory(ctx context.Context) {
	if m, err := mem.VirtualMemoryWithContext(ctx); err == nil {
		f.add("memory", humanize.IBytes(m.Total))
	}
	if n, ok := MemoryLimit(); ok {
		f.add("memory limit of the container", humanize.IBytes(uint64(n)))
	}
}

// Memory returns the memory of this machine, or of its container, in bytes. ok is false if it is not known.
func Memory() (bytes uint64, ok bool) {
	m, err := mem.VirtualMemory()
	if err != nil {
		return 0, false
	}
	if n, limited := MemoryLimit(); limited {
		return min(m.Total, uint64(n)), true
	}
	return m.Total, true
}

// MemoryLimit returns the memory limit of Filewise's container, in bytes. ok is false if there is no limit.
func MemoryLimit() (bytes int64, ok bool) { return host.memoryLimit() }

func (r roots) memoryLimit() (int64, bool) {
	for _, file := range []string{"fs/cgroup/memory.max", "fs/cgroup/memory/memory.limit_in_bytes"} {
		// If there is no limit, cgroup 1 reports a number near the largest possible one.
		if n, ok := parseInt(r.sysText(file)); ok && n > 0 && n < 1<<60 {
			return n, true
		}
	}
	return 0, false
}

func (f *facts) system(ctx context.Context) {
	if text, err := os.ReadFile("/etc/os-release"); err == nil {
		f.add("operating system", osName(string(text)))
	}
	kernel := runtime.GOOS
	if v, err := gopsutilhost.KernelVersionWithContext(ctx); err == nil {
		kernel += " " + v
	}
	f.add("kernel", kernel+" "+runtime.GOARCH)
	f.add("virtualisation", virtualisation(ctx))
}

// virtualisation names the hypervisor or the container, as far as it can be seen from within. It is empty if nothing
// could be read. A container hides the machine below it, but not the processor's flag.
func virtualisation(ctx context.Context) string {
	var parts []string
	system, role, err := gopsutilhost.VirtualizationWithContext(ctx)
	looked := err == nil // not on Windows
	if looked && system != "" {
		parts = append(parts, system+" ("+role+")")
	}
	info, err := cpu.InfoWithContext(ctx)
	if err == nil && len(info) > 0 {
		for _, flag := range info[0].Flags {
			if flag == "hypervisor" {
				parts = append(parts, "a virtual machine by its processor's flags")
			}
		}
	}
	if len(parts) == 0 && looked {
		return "none detected"
	}
	return strings.Join(parts, "; ")
}

// osName returns PRETTY_NAME from the text of /etc/os-release (man 5 os-release).
func osName(text string) string {
	for line := range strings.Lines(text) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), "PRETTY_NAME="); ok {
			return strings.Trim(v, `"'`)
		}
	}
	return ""
}

// Command returns the command of a program that is not Filewise's. It gets no variable of Filewise's environment that
// it does not need: FILEWISE_PASSWORD, a URL, a token.
func Command(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = Environment("LC_ALL=C")
	return cmd
}

// Environment returns the variables that other programs need to be found and to start, and the ones in set.
func Environment(set ...string) []string {
	env := []string{}
	for _, name := range []string{"PATH", "LD_LIBRARY_PATH", "TZ", "SYSTEMROOT"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return append(env, set...)
}

// Threads returns the directories of a process's threads (Linux, proc_pid_task(5)), or none if the process has ended.
func Threads(pid int) []string {
	dir := "/proc/" + strconv.Itoa(pid) + "/task/"
	entries, _ := os.ReadDir(dir)
	threads := make([]string, len(entries))
	for i, e := range entries {
		threads[i] = dir + e.Name()
	}
	return threads
}

// RunDelay returns how long a process's present threads were ready to run but waited for a processor (Linux's
// Documentation/scheduler/sched-stats.rst). The time of a thread that has ended is lost. ok is false if the kernel does
// not report the time.
func RunDelay(pid int) (d time.Duration, ok bool) {
	for _, thread := range Threads(pid) {
		text, err := os.ReadFile(thread + "/schedstat")
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
