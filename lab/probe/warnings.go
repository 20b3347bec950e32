package probe

import (
	"fmt"
	"math"
	"time"

	"filewise"
)

// Codes of warnings from probes.
const (
	WarnNeighbour = "noisy-neighbour"
	WarnOthers    = "busy-machine"
)

// BusyLimit is the CPU use, in percent, above which a result is not about storage (docs/reading-a-report.md).
const BusyLimit = 85

// OthersLimit is the CPU use by other processes, in percent, from which to warn: a fifth of the machine was not available.
const OthersLimit = 20

// Limits from which to warn, in percent of CPU time.
const (
	stealLimit = 5 // one part in 20, as large as the differences to be found
)

// Warnings returns warnings that follow from the deltas of a window.
func Warnings(deltas []filewise.Delta) []filewise.Warning {
	var warnings []filewise.Warning
	others, fromOthers := Others(deltas)
	if fromOthers && others > OthersLimit {
		warnings = append(warnings, filewise.Warning{
			Code:    WarnOthers,
			Message: fmt.Sprintf("Other processes used %.0f %% of the CPU (limit %d %%).", others, OthersLimit),
			Remedy:  "Stop other work on this machine and run again; noise widens the intervals.",
		})
	}
	if steal, ok := Find(deltas, "cpu", StealShare); ok && steal > stealLimit {
		warnings = append(warnings, filewise.Warning{
			Code: WarnNeighbour,
			Message: fmt.Sprintf("Other virtual machines used %.1f %% of this host's CPU (limit %d %%).",
				steal, stealLimit),
			Remedy: "Run when the host is quiet, or on dedicated CPUs.",
		})
	}
	return warnings
}

// Others returns the share of CPU time that other processes of this machine used, in percent. Other virtual machines
// are not included. It returns false if the share is not known.
func Others(deltas []filewise.Delta) (share float64, ok bool) {
	busy, _ := Find(deltas, "cpu", BusyShare)
	steal, _ := Find(deltas, "cpu", StealShare)
	mine, ok := Find(deltas, "cpu", OwnShare)
	return max(busy-steal-mine, 0), ok
}

// Find returns the value of a delta. It returns false if the delta is absent.
func Find(deltas []filewise.Delta, probe, name string) (value float64, ok bool) {
	for _, d := range deltas {
		if d.Probe == probe && d.Name == name && !math.IsNaN(d.Value) {
			return d.Value, true
		}
	}
	return 0, false
}

// Ceiling is the limit of the device of a volume, per second. 0 means not known.
type Ceiling struct {
	Volume, Device        string
	ReadBytes, WriteBytes float64
	Reads, Writes         float64 // requests
}

// Under sets the storage limits. The set's results then include how near each volume's storage was to its limit.
func (s *Set) Under(ceilings []Ceiling) *Set {
	s.ceilings = ceilings
	return s
}

// nearness returns how near each volume's storage was to its limit, in percent. The shares of reads and of writes are
// added; each is by bytes or by requests, whichever is higher. Devices that merge requests, or have caches, can exceed
// what fio reached.
func (s *Set) nearness(deltas []filewise.Delta, elapsed time.Duration) []filewise.Delta {
	var out []filewise.Delta
	for _, c := range s.ceilings {
		read, ok := part(deltas, c.Device, "bytes read", "reads", c.ReadBytes, c.Reads, elapsed)
		written, also := part(deltas, c.Device, "bytes written", "writes", c.WriteBytes, c.Writes, elapsed)
		if ok && also {
			out = append(out, filewise.Delta{Probe: filewise.ProbeStorage, Name: c.Volume + filewise.StorageShare, Unit: "%",
				Value: 100 * (read + written)})
		}
	}
	return out
}

func part(deltas []filewise.Delta, device, bytesName, requestsName string, bytes, requests float64, elapsed time.Duration) (float64, bool) {
	moved, ok := Find(deltas, "disk", device+" "+bytesName)
	asked, also := Find(deltas, "disk", device+" "+requestsName)
	if !ok || !also || !(bytes > 0) || !(requests > 0) || elapsed <= 0 {
		return 0, false
	}
	return math.Max(moved/bytes, asked/requests) / elapsed.Seconds(), true
}
