package probe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"filewise"
	"filewise/host/machine"
)

// System returns the probes of the operating system: CPU ("cpu"), this process ("process"), pressure stalls
// ("pressure"), memory (ProbeMemory), and the block devices of the volumes ("disk", ProbeWritten).
func System(volumes []filewise.Volume) []filewise.Probe {
	devices, disks := devicesOf(volumes)
	return []filewise.Probe{
		probe{"cpu", func() ([]filewise.Counter, error) { return readFile("/proc/stat", parseCPU) }},
		probe{"process", readProcess},
		probe{"pressure", readPressure},
		newMemory(),
		probe{"disk", func() ([]filewise.Counter, error) {
			return readDisks(devices, func(b []byte) []filewise.Counter { return parseDisks(b, devices) })
		}},
		probe{filewise.ProbeWritten, func() ([]filewise.Counter, error) {
			return readDisks(disks, func(b []byte) []filewise.Counter { return writtenTo(b, disks) })
		}},
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
		return nil, fmt.Errorf("not reported by this system: %w", err)
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

// devicesOf returns the devices that the volumes are on now, including the disks below composed devices. It also
// returns the disks alone. Each is listed once.
func devicesOf(volumes []filewise.Volume) (devices, disks []string) {
	add := func(to *[]string, name string) {
		if !slices.Contains(*to, name) {
			*to = append(*to, name)
		}
	}
	for _, v := range volumes {
		d, err := machine.DeviceOf(v.Dir)
		if err != nil || d.Name == "" {
			continue
		}
		add(&devices, d.Name)
		for _, name := range d.Disks {
			add(&devices, name)
			add(&disks, name)
		}
	}
	return devices, disks
}

func readDisks(names []string, parse func([]byte) []filewise.Counter) ([]filewise.Counter, error) {
	if len(names) == 0 {
		return nil, errors.New("the volumes lie on no block device of this machine")
	}
	return readFile("/proc/diskstats", parse)
}

// writtenTo returns the sum of the bytes written to all disks. It returns nil if none is counted.
func writtenTo(text []byte, disks []string) []filewise.Counter {
	sum := filewise.Counter{Name: filewise.WrittenDevices, Unit: "B"}
	found := false
	for _, c := range parseDisks(text, disks) {
		if _, ok := cutSuffix(c.Name, " bytes written"); ok {
			sum.Value, found = sum.Value+c.Value, true
		}
	}
	if !found {
		return nil
	}
	return []filewise.Counter{sum}
}
