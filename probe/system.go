package probe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"filewise"
	"filewise/machine"
)

// System is the probes of the operating system: processors ("cpu"), this process
// ("process"), pressure stalls ("pressure"), and the block devices behind the
// volumes ("disk").
func System(volumes []filewise.Volume) []filewise.Probe {
	return []filewise.Probe{
		probe{"cpu", func() ([]filewise.Counter, error) { return readFile("/proc/stat", parseCPU) }},
		probe{"process", readProcess},
		probe{"pressure", readPressure},
		newDisk(volumes),
	}
}

type probe struct {
	name string
	read func() ([]filewise.Counter, error)
}

func (p probe) Name() string { return p.name }

func (p probe) Read(ctx context.Context) ([]filewise.Counter, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return p.read()
}

func readFile(path string, parse func([]byte) []filewise.Counter) ([]filewise.Counter, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("this system does not tell: %w", err)
	}
	counters := parse(text)
	if len(counters) == 0 {
		return nil, fmt.Errorf("%s has none of the counters that are known", path)
	}
	return counters, nil
}

func readPressure() ([]filewise.Counter, error) {
	var all []filewise.Counter
	var errs []error
	for _, resource := range []string{"cpu", "io", "memory"} {
		c, err := readFile("/proc/pressure/"+resource, func(b []byte) []filewise.Counter { return parsePressure(resource, b) })
		all, errs = append(all, c...), append(errs, err)
	}
	if len(all) == 0 {
		return nil, errors.Join(errs...)
	}
	return all, nil
}

// readProcess reads the CPU time and I/O of this process. The times come from
// getrusage, whose resolution is µs; /proc/self/stat has 10 ms.
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
	// Without task I/O accounting in the kernel the I/O is absent, not the rest.
	if c, err := readFile("/proc/self/io", parseSelfIO); err == nil {
		all = append(all, c...)
	}
	return all, nil
}

// newDisk probes the devices that the volumes lie on at this moment, and the
// disks below composed ones.
func newDisk(volumes []filewise.Volume) probe {
	var devices []string
	for _, v := range volumes {
		d, err := machine.DeviceOf(v.Dir)
		if err != nil || d.Name == "" {
			continue
		}
		for _, name := range append([]string{d.Name}, d.Disks...) {
			if !slices.Contains(devices, name) {
				devices = append(devices, name)
			}
		}
	}
	return probe{"disk", func() ([]filewise.Counter, error) {
		if len(devices) == 0 {
			return nil, errors.New("the volumes lie on no block device of this machine")
		}
		return readFile("/proc/diskstats", func(b []byte) []filewise.Counter { return parseDisks(b, devices) })
	}}
}
