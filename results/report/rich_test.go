package report_test

import (
	"fmt"
	"math"
	"time"

	"filewise"
	"filewise/results/report"
)

// richRun is the gentle run on a server that reports its waits and its files, and on storage whose limit is known.
func richRun() (report.Data, error) {
	d, err := gentle().data()
	if err != nil {
		return report.Data{}, err
	}
	for i := range d.Trials {
		t := &d.Trials[i]
		for k := range t.Measures {
			t.Measures[k].Connections = d.Plan.Params.Connections
			t.Measures[k].Deltas = append(t.Measures[k].Deltas, richDeltas(*t, t.Measures[k])...)
		}
		if i%7 == 3 {
			t.Warnings = append(t.Warnings, filewise.Warning{Code: "noisy-neighbour", Message: "other virtual machines took 7 % of the processors",
				Remedy: "measure at a quieter time"})
		}
		if i > 20 { // the run was paused
			t.Started = t.Started.Add(time.Minute)
		}
	}
	d.Machine = append(d.Machine, filewise.Fact{Name: "storage limit of volume scratch", Value: "sequential read 560 MB/s, write 530 MB/s"})
	return d, nil
}

// richDeltas are waits of which allocation falls with the number of files, and files of
// which the first has twice the load of each other one.
func richDeltas(t filewise.Trial, m filewise.Measure) []filewise.Delta {
	n := 0
	for _, f := range t.Files {
		if f.Role == filewise.RoleData {
			n++
		}
	}
	whole := float64(m.Connections) * (m.Window[1] - m.Window[0]).Seconds()
	wait := func(probe, name string, class filewise.WaitClass, part float64) []filewise.Delta {
		return []filewise.Delta{
			{Probe: probe, Name: name, Unit: "s", Class: class, Value: part * whole},
			{Probe: probe, Name: name, Unit: "waits", Class: class, Value: math.Round(part * m.Work)},
		}
	}
	out := wait(filewise.ProbeWaits, "space map", filewise.WaitAllocation, 0.4/float64(max(n, 1)))
	out = append(out, wait(filewise.ProbeWaits, "log flush", filewise.WaitLog, 0.3)...)
	out = append(out, filewise.Delta{Probe: filewise.ProbeWaits, Name: "free page", Unit: "waits", Class: filewise.WaitMemory,
		Value: math.Round(m.Work / 100)},
		filewise.Delta{Probe: filewise.ProbeWaits, Name: "seen by looks", Unit: "s", Class: filewise.WaitLog,
			Value: float64(t.Cell.Block%2) * 0.001 * whole},
		filewise.Delta{Probe: filewise.ProbeWaits, Name: "log buffer full", Unit: "waits", Class: filewise.WaitLog})
	out = append(out, wait(filewise.ProbeBackground, "checkpoint write", filewise.WaitDataWrite, 0.05)...)
	out = append(out,
		filewise.Delta{Probe: filewise.ProbeStorage, Name: "scratch" + filewise.StorageShare, Unit: "%", Value: 40 + 3*float64(n)},
		filewise.Delta{Probe: filewise.ProbeWritten, Name: filewise.WrittenLog, Unit: "B", Value: 400 * m.Work},
		filewise.Delta{Probe: filewise.ProbeWritten, Name: filewise.WrittenData, Unit: "B", Value: 900 * m.Work},
		filewise.Delta{Probe: filewise.ProbeWritten, Name: filewise.WrittenLog, Unit: filewise.UnitPerByte, Value: 2},
		filewise.Delta{Probe: filewise.ProbeWritten, Name: filewise.WrittenData, Unit: filewise.UnitPerByte, Value: 4.5},
		filewise.Delta{Probe: filewise.ProbeCheckpoints, Name: filewise.CheckpointCycles, Unit: "cycles", Value: 0.25},
		filewise.Delta{Probe: "memory", Name: "dirty", Unit: "B", Value: 12.5e6},
		filewise.Delta{Probe: "pressure", Name: "io some stalled share", Unit: "%", Value: 17},
		filewise.Delta{Probe: "disk", Name: "nvme0n1 bytes written", Unit: "B", Value: 30e6 * (m.Window[1] - m.Window[0]).Seconds()},
		filewise.Delta{Probe: "disk", Name: "nvme0n1 writes", Unit: "requests", Value: 2000},
		filewise.Delta{Probe: "disk", Name: "nvme0n1 write time", Unit: "ms", Value: 900},
		filewise.Delta{Probe: "disk", Name: "nvme0n1 mean queue", Unit: "requests at a time", Value: 1.7},
		filewise.Delta{Probe: "cpu", Name: "busy share", Unit: "%", Value: 62 + 2*float64(n)},
		filewise.Delta{Probe: "server", Name: "timed", Unit: "checkpoints", Value: float64(t.Cell.Block % 2)})
	for i, f := range t.Files {
		load := 1e6
		if i == 0 {
			load = 2e6
		}
		out = append(out,
			filewise.Delta{Probe: filewise.ProbeFiles, Name: filewise.FileBytes, Unit: "B", File: f.Path, Value: load},
			filewise.Delta{Probe: filewise.ProbeFiles, Name: filewise.FileWrites, Unit: "requests", File: f.Path, Value: load / 8192},
			filewise.Delta{Probe: filewise.ProbeFiles, Name: filewise.FileWriteTime, Unit: "s", File: f.Path, Value: load / 1e8})
	}
	return out
}

// bulkRun is the rich run going on for so many trials, with an analysis after every block. Its judgement is the short
// run's.
func bulkRun(trials int) (report.Data, error) {
	d, err := richRun()
	if err != nil {
		return report.Data{}, err
	}
	once, result := d.Trials, &d.Judgement.Operations[0].Result
	analyses := result.Analyses
	blocks, took := analyses[len(analyses)-1].Block, d.Ended.Sub(d.Started)
	for i := 1; len(d.Trials) < trials; i++ {
		for _, t := range once {
			if t.Cell.Pilot {
				continue
			}
			t.Cell.Block += i * blocks
			t.Started = t.Started.Add(time.Duration(i) * took)
			t.Measures = append([]filewise.Measure(nil), t.Measures...)
			for k := range t.Measures {
				t.Measures[k].Work *= 1 + 0.03*math.Sin(float64(i)/9)
			}
			if t.State == filewise.Failed {
				t.Reason = fmt.Sprintf("%s, again %d", t.Reason, i)
			}
			d.Trials = append(d.Trials, t)
		}
		for _, l := range analyses {
			l.Block += i * blocks
			result.Analyses = append(result.Analyses, l)
		}
	}
	result.Blocks = result.Analyses[len(result.Analyses)-1].Block
	return d, nil
}
