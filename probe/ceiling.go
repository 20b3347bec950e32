package probe

import (
	"math"
	"time"

	"filewise"
)

// Ceiling is what the device behind a volume gives at most, by the second; 0: not
// known.
type Ceiling struct {
	Volume, Device        string
	ReadBytes, WriteBytes float64
	Reads, Writes         float64 // requests
}

// Under has the set tell, from the devices' counters, how near each volume's
// storage was to its limit.
func (s *Set) Under(ceilings []Ceiling) *Set {
	s.ceilings = ceilings
	return s
}

// nearness are the shares of the limits: that of reads and that of writes added
// up, each by bytes or by requests, whichever is nearer. Devices that merge
// requests, or caches behind them, can take more than fio reached.
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
