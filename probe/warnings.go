package probe

import (
	"fmt"

	"filewise"
)

// The codes of warnings from probes.
const (
	WarnNeighbour = "noisy-neighbour"
	WarnOthers    = "busy-machine"
)

// BusyLimit is the share of the processors' time, in percent, above which a result
// says nothing of storage (docs/reading-a-report.md).
const BusyLimit = 85

// The limits of warnings, in percent of the processors' time.
const (
	othersLimit = 20 // a fifth of the machine was not to be had
	stealLimit  = 5  // one of 20: as much as the differences that are looked for
)

// Warnings says what the deltas of a window mean for its result.
func Warnings(deltas []filewise.Delta) []filewise.Warning {
	var warnings []filewise.Warning
	others, fromOthers := Others(deltas)
	if fromOthers && others > othersLimit {
		warnings = append(warnings, filewise.Warning{
			Code:    WarnOthers,
			Message: fmt.Sprintf("Other processes on this machine took %.0f %% of the processors' time (limit %d %%).", others, othersLimit),
			Remedy:  "Measure at a quieter time; differences are smaller and less sure on a busy machine.",
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

// Others is the share that neither Filewise nor its server took, nor other virtual
// machines, in percent; ok is false where that is not known.
func Others(deltas []filewise.Delta) (share float64, ok bool) {
	busy, _ := Find(deltas, "cpu", BusyShare)
	steal, _ := Find(deltas, "cpu", StealShare)
	mine, ok := Find(deltas, "cpu", OwnShare)
	return max(busy-steal-mine, 0), ok
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
