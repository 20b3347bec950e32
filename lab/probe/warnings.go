package probe

import (
	"fmt"
	"math"
	"time"

	"filewise"
)

// The codes of warnings from probes.
const (
	WarnNeighbour = "noisy-neighbour"
	WarnOthers    = "busy-machine"
)

// BusyLimit is the share of the processors' time, in percent, above which a result is not about storage
// (docs/reading-a-report.md).
const BusyLimit = 85

// The limits of warnings, in percent of the processors' time.
const (
	othersLimit = 20 // a fifth of the machine was not to be had
	stealLimit  = 5  // one of 20: as much as the differences that are looked for
)

// Warnings interprets the deltas of a window for its result.
func Warnings(deltas []filewise.Delta) []filewise.Warning {
	var warnings []filewise.Warning
	others, fromOthers := Others(deltas)
	if fromOthers && others > othersLimit {
		warnings = append(warnings, filewise.Warning{
			Code:    WarnOthers,
			Message: fmt.Sprintf("Other processes used %.0f %% of the CPU (limit %d %%).", others, othersLimit),
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

// Others is the share that neither Filewise nor its server took, nor other virtual machines, in percent; ok is false
// if that is not known.
func Others(deltas []filewise.Delta) (share float64, ok bool) {
	busy, _ := Find(deltas, "cpu", BusyShare)
	steal, _ := Find(deltas, "cpu", StealShare)
	mine, ok := Find(deltas, "cpu", OwnShare)
	return max(busy-steal-mine, 0), ok
}

// Find is the value of a delta; ok is false when it is absent.
func Find(deltas []filewise.Delta, probe, name string) (value float64, ok bool) {
	for _, d := range deltas {
		if d.Probe == probe && d.Name == name && !math.IsNaN(d.Value) {
			return d.Value, true
		}
	}
	return 0, false
}

// Ceiling is the limit of the device behind a volume, by the second. 0 means not known.
type Ceiling struct {
	Volume, Device        string
	ReadBytes, WriteBytes float64
	Reads, Writes         float64 // requests
}

// Under adds to the set's results, from the devices' counters, how near each volume's storage was to its limit.
func (s *Set) Under(ceilings []Ceiling) *Set {
	s.ceilings = ceilings
	return s
}

// nearness are the shares of the limits: the shares of reads and of writes added up, each by bytes or by requests,
// whichever is nearer. Devices that merge requests, or caches behind them, can take more than fio reached.
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
