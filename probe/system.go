package probe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

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
