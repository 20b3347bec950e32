package probe

import (
	"fmt"

	"filewise"
)

// The codes of warnings from probes.
const (
	WarnCPUBound  = "cpu-bound"
	WarnNeighbour = "noisy-neighbour"
)

// The limits of warnings, in percent of the processors' time.
const (
	busyLimit  = 85 // DESIGN.md, "said in the report whenever true"
	stealLimit = 5  // one of 20: as much as the differences that are looked for
)

// Warnings says what the deltas of a window mean for its result.
func Warnings(deltas []filewise.Delta) []filewise.Warning {
	var warnings []filewise.Warning
	if busy, ok := Find(deltas, "cpu", BusyShare); ok && busy > busyLimit {
		warnings = append(warnings, filewise.Warning{
			Code: WarnCPUBound,
			Message: fmt.Sprintf("CPU-bound: the processors were busy for %.0f %% of the window (limit %d %%); no statement about storage.",
				busy, busyLimit),
			Remedy: "Measure with more processors, or with less work for them: fewer --connections, or more --row-bytes.",
		})
	}
	if steal, ok := Find(deltas, "cpu", StealShare); ok && steal > stealLimit {
		warnings = append(warnings, filewise.Warning{
			Code: WarnNeighbour,
			Message: fmt.Sprintf("Other virtual machines on this host took %.1f %% of the processors' time (limit %d %%).",
				steal, stealLimit),
			Remedy: "Measure at a quieter time, or on a machine with processors of its own.",
		})
	}
	return warnings
}

// Find is the value of a delta; ok is false when it is absent.
func Find(deltas []filewise.Delta, probe, name string) (value float64, ok bool) {
	for _, d := range deltas {
		if d.Probe == probe && d.Name == name {
			return d.Value, true
		}
	}
	return 0, false
}
