//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"filewise"
	"filewise/internal/say"

	"filewise/proof/planted"
)

// The speeds of a small cloud disk: reads and writes of each volume, per second.
const (
	diskBytes    = 40_000_000
	diskRequests = 1000
)

// neverSync holds the cells whose programs leave writing to the kernel, which is not throttled. Their volumes are
// mounted with -o sync.
var neverSync = map[string]bool{"temp postgres": true, "temp mariadb": true, "temp mysql": true, "dump postgres": true, "dump sqlite": true}

// volumes holds the places of a cell's run.
type volumes struct {
	args    []string
	storage *planted.Storage // nil means the run uses the defaults
	dir     string
}

// volumes makes the places of a cell's run, and returns the function that removes them. The log lies on a third volume,
// which is not throttled. So do the server's own files, if the engine permits it, and backups.
func (o options) volumes(ctx context.Context, c *cell, dir string) (volumes, func() error, error) {
	if !c.Disk {
		v := volumes{dir: filepath.Join(dir, "volume")}
		v.args = []string{"--volume", "here=" + v.dir}
		return v, func() error { return nil }, os.Mkdir(v.dir, 0o711)
	}
	speed := planted.Speed{Bytes: diskBytes, Requests: diskRequests, Reads: true, Sync: neverSync[c.Scenario+" "+c.Engine]}
	s, err := planted.New(speed, speed, planted.Speed{}) // not in memory: a memory limit would count it as the server's
	if err != nil {
		return volumes{}, nil, err
	}
	err = s.Limit()
	if err == nil {
		err = s.Prove(ctx, func(line string) { fmt.Fprintln(os.Stderr, line) })
	}
	if errors.Is(err, planted.ErrUnable) && ctx.Err() == nil { // a busy machine is slower: the table shows what was measured
		c.Control, err = err.Error(), nil
	}
	if err != nil {
		return volumes{}, nil, errors.Join(err, s.Close())
	}
	v := volumes{storage: s}
	add := func(args ...string) { v.args = append(v.args, args...) }
	for _, d := range s.Slow[:2] {
		add("--volume", d.Name+"="+d.Dir)
	}
	backs := c.Scenario == "backup" || c.Scenario == "dump"
	if c.Engine != "sqlite" || backs {
		add("--volume", "log="+s.Slow[2].Dir)
	}
	if c.Engine != "sqlite" {
		add("--log-volume", "log")
	}
	switch {
	case c.Scenario == "temp":
		add("--files", "1,2")
	case backs && c.Engine == "sqlite":
		add("--layout", "files=1,volumes=a,backup-volumes=log", "--layout", "files=2,volumes=a+b,backup-volumes=log")
	case backs:
		add("--layout", "files=1,volumes=a,backup-volumes=log,backup-files=1",
			"--layout", "files=2,volumes=a+b,backup-volumes=log,backup-files=2")
	default:
		add("--layout", "files=1,volumes=a", "--layout", "files=2,volumes=a+b")
	}
	return v, s.Close, nil
}

// factor is the throughput of two files on two volumes relative to one file on one volume. It follows from what the
// bytes and requests on each volume take at the planted speeds.
type factor struct {
	// After is the factor if the work's other time lies before and after the storage's time. Overlapped is the factor if the
	// work waits for the storage alone.
	After      float64
	Overlapped float64 `json:"Beside"`
	// Fio is fio's factor for the same bytes in requests of the same size. 0 means not tried.
	Fio float64 `json:",omitempty"`
	// Busy is the share of the first layout's time that its volumes take at the planted speeds.
	Busy  float64
	loads [2]load
}

// limits returns the range that follows from the factor. If the storage takes less than half of the time, something
// else may hide all of it.
func (f factor) limits() (low, high float64) {
	if f.Busy < limiting {
		return min(1, f.After) * (1 - tolerance), max(1, f.After) * (1 + tolerance)
	}
	return min(f.After, f.Overlapped) * (1 - tolerance), max(f.After, f.Overlapped) * (1 + tolerance)
}

// tolerance limits how far the volumes' speeds, measured by fio, may be off.
const tolerance = 0.15

// limiting is the share of the time from which the storage is the limit.
const limiting = 0.5

// load is a layout's load on the volumes, per unit of work.
type load struct {
	seconds float64 // that the work took
	storage float64 // that the busiest volume takes at the planted speed
	on      map[string]use
}

// use counts the requests and bytes on one volume.
type use struct{ reads, read, writes, written float64 } // requests, and bytes

// takes returns the time that a volume needs for the use, in seconds. Reads and writes are throttled separately.
func (u use) takes() float64 {
	return max(u.reads/diskRequests, u.read/diskBytes, u.writes/diskRequests, u.written/diskBytes)
}

// expected returns an operation's factor, from the trials' own counts of its disks. It is nil if the trials have none.
func (v volumes) expected(trials []filewise.Trial, operation, first, second string) *factor {
	if v.storage == nil {
		return nil
	}
	one, two := v.load(trials, operation, first), v.load(trials, operation, second)
	if one.storage == 0 || two.storage == 0 {
		return nil
	}
	return &factor{Busy: one.storage / one.seconds, After: one.seconds / max(one.seconds-one.storage+two.storage, two.storage),
		Overlapped: one.storage / two.storage, loads: [2]load{one, two}}
}

// load adds up a layout's trials.
func (v volumes) load(trials []filewise.Trial, operation, layout string) load {
	l, work := load{on: map[string]use{}}, 0.0
	for _, t := range trials {
		for _, m := range t.Measures {
			if t.State != filewise.Done || t.Cell.Pilot || t.Cell.Layout != layout || operation != "" && m.Operation != operation ||
				m.Throughput() <= 0 {
				continue
			}
			done, counted, deltas := m.Work, (m.Window[1] - m.Window[0]).Seconds(), m.Deltas
			seconds := counted
			if m.Rest != nil { // work before the window is in Rest's work and time, but its I/O is not counted
				done, seconds, deltas = m.Rest.Work, m.Rest.Time.Seconds(), append(deltas[:len(deltas):len(deltas)], m.Rest.Storage...)
				counted = min(counted+(m.Sync-m.Rest.Empty).Seconds(), seconds)
			}
			work, l.seconds = work+done, l.seconds+seconds
			for _, d := range v.storage.Slow[:2] {
				l.on[d.Name] = l.on[d.Name].plus(deltas, filepath.Base(d.Loop), seconds/counted)
			}
		}
	}
	if work == 0 {
		return load{}
	}
	l.seconds /= work
	for name, u := range l.on {
		l.on[name] = use{u.reads / work, u.read / work, u.writes / work, u.written / work}
		l.storage = max(l.storage, l.on[name].takes())
	}
	return l
}

// plus adds what a device did, multiplied by times. Merged requests are throttled one by one.
func (u use) plus(deltas []filewise.Delta, device string, times float64) use {
	for _, d := range deltas {
		if d.Probe != "disk" {
			continue
		}
		switch d.Name {
		case device + " reads", device + " reads merged":
			u.reads += times * d.Value
		case device + " bytes read":
			u.read += times * d.Value
		case device + " writes", device + " writes merged":
			u.writes += times * d.Value
		case device + " bytes written":
			u.written += times * d.Value
		}
	}
	return u
}

// controlSeconds is the time for which fio repeats the first layout's load.
const controlSeconds = 2

// prove has fio do to the volumes what the layouts did: the same bytes on each, in requests of the same size.
func (v volumes) prove(ctx context.Context, c *cell) error {
	for i := range c.Operations {
		f := c.Operations[i].Expected
		if f == nil {
			continue
		}
		var took [2]time.Duration
		for n, l := range f.loads {
			bytes, way := l.asFio(controlSeconds / f.loads[0].storage)
			each, err := v.storage.Fio(ctx, way, bytes)
			if err != nil {
				return err
			}
			for _, t := range each {
				took[n] = max(took[n], t)
			}
		}
		if took[1] > 0 {
			f.Fio = float64(took[0]) / float64(took[1])
		}
	}
	return nil
}

// asFio returns the load, multiplied by times, in the form for fio. It takes the kind of request for which the volumes
// need longer.
func (l load) asFio(times float64) (map[string]int64, planted.Way) {
	var sum use
	for _, u := range l.on {
		sum = use{sum.reads + u.reads, sum.read + u.read, sum.writes + u.writes, sum.written + u.written}
	}
	reads := max(sum.reads/diskRequests, sum.read/diskBytes) > max(sum.writes/diskRequests, sum.written/diskBytes)
	way, of, size := planted.Way{"--rw=write"}, func(u use) float64 { return u.written }, sum.written/sum.writes
	if reads {
		way, of, size = planted.Way{"--rw=read"}, func(u use) float64 { return u.read }, sum.read/sum.reads
	}
	block := int64(max(math.Floor(size/4096), 1)) * 4096
	bytes := map[string]int64{}
	for name, u := range l.on {
		bytes[name] = int64(of(u)*times) / block * block
	}
	return bytes, append(way, "--direct=1", fmt.Sprint("--bs=", block))
}

// least returns the least factor that is certain, without the tolerance.
func (f factor) least() float64 {
	if f.Busy < limiting {
		return 1
	}
	return min(f.After, f.Overlapped)
}

// leastFound is the factor from which a run has to recommend two files.
const leastFound = 1.6

// diskRows returns the cell's lines for the second disk's table.
func (c cell) diskRows() []string {
	var out []string
	for _, f := range c.Operations {
		name := f.Name
		if name == "" {
			name = c.Scenario
		}
		row := fmt.Sprintf("| %s | %s | %s |", c.Scenario, c.Engine, name)
		interval, in := "none yet", false
		if f.Low != nil && f.High != nil {
			interval = fmt.Sprintf("%.2f to %.2f", 1+*f.Low/100, 1+*f.High/100)
		}
		e, named := f.Expected, "no"
		if strings.Contains(f.Cause, "storage") || strings.Contains(f.Cause, "volume a") {
			named = "yes"
		}
		if e == nil {
			out = append(out, row+fmt.Sprintf(" no I/O | | %s | %s %s | %s | |", interval, f.Decision, f.Layout, named))
			continue
		}
		low, high := e.limits()
		if f.Low != nil && f.High != nil {
			in = 1+*f.Low/100 <= high && 1+*f.High/100 >= low
		}
		found := "✘"
		if in && (e.least() < leastFound || f.Decision == "use" && strings.HasPrefix(f.Layout, "2 ") && named == "yes") {
			found = "✔"
		}
		out = append(out, row+fmt.Sprintf(" %.2f to %.2f (%s busy) | %.2f | %s | %s %s | %s | %s |", min(e.After, e.Overlapped),
			max(e.After, e.Overlapped), say.Share(e.Busy, 1), e.Fio, interval, f.Decision, f.Layout, named, found))
	}
	return out
}
