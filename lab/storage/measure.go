package storage

import (
	"context"
	"fmt"
	"time"

	"filewise"
	"filewise/host/machine"
)

// Demand describes the limits to measure.
type Demand struct {
	Volumes []filewise.Volume // directories that can be written to, such as scratch directories
	Page    int64             // page size of the engine in bytes. 0 means 4096
	Files   int               // largest number of files of a layout. 0 means 1
}

func (d Demand) withDefaults() Demand {
	if d.Page <= 0 {
		d.Page = 4096
	}
	d.Files = min(max(d.Files, 1), mostFiles)
	return d
}

// Expected returns the minimum time that measuring takes. Callers use it to decide whether to measure.
func (d Demand) Expected() time.Duration {
	d = d.withDefaults()
	calls := len(patterns) * len(d.Volumes) * len(d.counts())
	if len(d.Volumes) > 1 {
		calls += 2
	}
	return time.Duration(calls) * runtime * 3 / 2
}

// counts returns the numbers of files to try.
func (d Demand) counts() []int {
	if d.Files > 1 {
		return []int{1, d.Files}
	}
	return []int{1}
}

// Measure measures each volume alone with fio, then all together. It returns the reason, by volume name, for each
// volume without a limit: it is in memory, lacks space, or fio is missing, for example. The error is the context's.
func Measure(ctx context.Context, d Demand) ([]Limit, map[string]string, error) {
	d = d.withDefaults()
	var limits []Limit
	absent := make(map[string]string)
	program, why := Program()
	if why != "" {
		for _, v := range d.Volumes {
			absent[v.Name] = why
		}
		return nil, absent, nil
	}
	for _, v := range d.Volumes {
		l, err := d.volume(ctx, program, v)
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		if err != nil {
			absent[v.Name] = err.Error()
			continue
		}
		limits = append(limits, l)
	}
	if len(limits) > 1 && len(absent) == 0 {
		d.together(ctx, program, limits)
	}
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	return limits, absent, nil
}

// volume measures one volume alone.
func (d Demand) volume(ctx context.Context, program string, v filewise.Volume) (Limit, error) {
	l := Limit{Volume: v.Name, Page: d.Page, Files: d.Files, Measured: time.Now().UTC()}
	device, err := machine.DeviceOf(v.Dir)
	if err != nil {
		return l, err
	}
	if device.InMemory() {
		return l, fmt.Errorf("it lies in memory")
	}
	if free, err := machine.Free(v.Dir); err == nil && free < spareBytes {
		return l, fmt.Errorf("it has less than %d MiB free", spareBytes>>20)
	}
	l.Device, l.Place = device.Name, place(device)
	return l, within([]string{v.Dir}, func(dirs []string) error {
		for _, p := range patterns {
			for _, n := range d.counts() {
				f, tool, err := job{p, dirs, n, d.Page}.run(ctx, program)
				if err != nil {
					return err
				}
				l.Tool = tool
				l.Figures = append(l.Figures, f)
			}
		}
		return nil
	})
}

// together measures sequential reading and writing on all volumes at the same time, and adds the sum to each limit. A
// failure is ignored, because each volume has its own figures.
func (d Demand) together(ctx context.Context, program string, limits []Limit) {
	dirs := filewise.Each(d.Volumes, func(v filewise.Volume) string { return v.Dir })
	_ = within(dirs, func(dirs []string) error {
		for _, p := range []Pattern{SequentialWrite, SequentialRead} {
			f, _, err := job{p, dirs, 1, d.Page}.run(ctx, program)
			if err != nil {
				return err
			}
			for i := range limits {
				limits[i].Figures = append(limits[i].Figures, f)
			}
		}
		return nil
	})
}

// place returns a text that identifies a file system on this machine.
func place(d machine.Device) string {
	return d.Mount.Number + " " + d.Mount.Type + " " + d.Mount.Source
}
