package experiment

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"filewise"
	"filewise/lab/probe"
)

// Thresholds from which a run suspects that storage has slowed down. Each compares the last third of the blocks with
// the first: the ratio of throughput, and of the time per write request.
const (
	cliffFall = 0.9
	cliffRise = 1.5
)

// cliffWarning warns if throughput falls over the run while each write takes longer. It suspects that a cloud volume
// has spent its burst credits, or an SSD has filled its fast cache.
func (h history) cliffWarning() []filewise.Warning {
	third := h.last / 3
	if third < 1 {
		return nil
	}
	var speeds, writes []float64 // ln(last third / first third) per layout
	for _, l := range h.plan.Layouts {
		speed := h.change(l.Name, third, func(m filewise.Measure) (float64, bool) { return m.Throughput(), true })
		write := h.change(l.Name, third, writeTime)
		if !math.IsNaN(speed) && !math.IsNaN(write) {
			speeds, writes = append(speeds, speed), append(writes, write)
		}
	}
	if len(speeds) == 0 {
		return nil
	}
	fell, rose := math.Exp(stat.Mean(speeds, nil)), math.Exp(stat.Mean(writes, nil))
	if fell > cliffFall || rose < cliffRise {
		return nil
	}
	return []filewise.Warning{{
		Code: "write-cliff",
		Message: fmt.Sprintf("Storage slowed down during the run: throughput fell %.0f %%, writes took %.1f times as long. "+
			"Burst credits or an SSD cache may be used up.", 100*(1-fell), rose),
		Remedy: "Run again now to measure the steady state; to measure the fast state, let the storage rest and run shorter.",
	}}
}

// change returns ln(last third / first third of the blocks) for the mean of a value of a layout's first operation. It
// returns NaN if a third has no value.
func (h history) change(layout string, third int, of func(filewise.Measure) (float64, bool)) float64 {
	mean := func(from, to int) float64 {
		var all []float64
		for b := from; b <= to; b++ {
			t := h.tries[cellKey{b, layout}].done
			if t == nil || len(t.Measures) == 0 {
				continue
			}
			if x, ok := of(t.Measures[0]); ok && x > 0 {
				all = append(all, x)
			}
		}
		return stat.Mean(all, nil) // NaN if there is none
	}
	last := h.last
	return math.Log(mean(last-third+1, last) / mean(1, third))
}

// writeTime returns the mean time of a write request, in ms, on the device with the most writes.
func writeTime(m filewise.Measure) (float64, bool) {
	var most, took float64
	for _, d := range m.Deltas {
		device, ok := strings.CutSuffix(d.Name, " writes")
		if d.Probe != "disk" || !ok || d.Value <= most {
			continue
		}
		if ms, known := probe.Find(m.Deltas, "disk", device+" write time"); known {
			most, took = d.Value, ms
		}
	}
	return took / most, most > 0
}

// givenSize returns the total size that a layout's data files are given, in bytes. If no file is ever added, it is the
// size of the one file.
func givenSize(l filewise.Layout) int64 {
	if l.AddedLater == filewise.LaterUntouched && l.Data.Files > 0 {
		return l.Data.Bytes / int64(l.Data.Files)
	}
	return l.Data.Bytes
}

// outgrown warns if data have outgrown the layout's size, so that size is no longer held constant. It counts used space
// if known, because an engine may reserve more than it uses.
func (l *life) outgrown() []filewise.Warning {
	var bytes int64
	for _, f := range l.trial.Final {
		switch {
		case f.Role != filewise.RoleData:
		case f.Used != nil:
			bytes += *f.Used
		default:
			bytes += f.Bytes
		}
	}
	given := givenSize(l.layout)
	if bytes <= given+given/100 {
		return nil
	}
	w := filewise.Warning{
		Code: "outgrown",
		Message: fmt.Sprintf("The data of %s grew to %d MiB; every layout is planned for %d MiB.", l.layout.Name, bytes>>20,
			given>>20),
		Remedy: "Raise --size, or lower --window or --work.",
	}
	if given != l.layout.Data.Bytes {
		w.Message = fmt.Sprintf("The data of %s, to which no file is added, grew to %d MiB, above the %d MiB of its one file.",
			l.layout.Name, bytes>>20, given>>20)
	}
	return []filewise.Warning{w}
}

// retried warns of failures that were retried, because their cost is part of the trial.
func (l *life) retried(failures map[filewise.Class]int64, when string) {
	var words []string
	for _, class := range slices.Sorted(maps.Keys(failures)) {
		if slices.Contains(l.program.Retry, class) {
			words = append(words, fmt.Sprintf("%d × %s", failures[class], class))
		}
	}
	if len(words) == 0 {
		return
	}
	l.trial.Warnings = append(l.trial.Warnings, filewise.Warning{
		Code:    "retried",
		Message: fmt.Sprintf("Operations of %s failed and were tried again %s: %s.", l.layout.Name, when, strings.Join(words, ", ")),
		Remedy:  "Every failure is counted in its trial (filewise show); what they cost is in the throughput.",
	})
}
