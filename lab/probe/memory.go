package probe

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"filewise"
	"filewise/host/machine"
)

// ProbeMemory is the probe of the machine's memory. Its deltas are means over the window, in "B".
const ProbeMemory = "memory"

// Names of the deltas of ProbeMemory.
const (
	MemoryTotal     = filewise.MemoryTotal // or the limit of Filewise's container, if that is less
	MemoryAvailable = "available"
	MemoryCached    = "page cache"
	MemoryDirty     = "dirty"     // not yet written to storage
	MemoryWriteback = "writeback" // being written
)

// memory samples amounts that rise and fall. It sums each sample times the time since the last one, so that means can
// be computed. It implements filewise.Sampler.
type memory struct {
	read  func() (map[string]float64, error)
	limit float64 // of the container. 0 means none

	mu      sync.Mutex
	names   []string           // names that the system reports; nil before the first Read
	sums    map[string]float64 // B·s
	seconds float64
}

func newMemory() *memory {
	limit, _ := machine.MemoryLimit()
	return &memory{limit: float64(limit), sums: make(map[string]float64), read: func() (map[string]float64, error) {
		text, err := os.ReadFile("/proc/meminfo")
		if err != nil {
			return nil, fmt.Errorf("not reported by this system: %w", err)
		}
		return parseMemory(text), nil
	}}
}

// Name returns the name of the probe.
func (*memory) Name() string { return ProbeMemory }

// Sample reads the amounts once, which takes some 30 µs.
func (m *memory) Sample(ctx context.Context, since time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	found, err := m.read()
	if err != nil {
		return err
	}
	if total, ok := found[MemoryTotal]; ok && m.limit > 0 {
		found[MemoryTotal] = min(total, m.limit)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seconds += since.Seconds()
	for name, v := range found {
		m.sums[name] += v * since.Seconds()
	}
	return nil
}

// Units of the sums and times that levels turns into means.
const (
	unitSum  = filewise.UnitSummed
	unitTime = filewise.UnitLooked
)

// Read returns the sums so far.
func (m *memory) Read(ctx context.Context) ([]filewise.Counter, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.names == nil {
		found, err := m.read()
		if err != nil {
			return nil, err
		}
		m.names = slices.Sorted(maps.Keys(found))
	}
	all := []filewise.Counter{{Name: unitTime, Unit: unitTime, Value: m.seconds}}
	for _, name := range m.names {
		all = append(all, filewise.Counter{Name: name, Unit: unitSum, Value: m.sums[name]})
	}
	return all, nil
}

// levels replaces sums by means over the sampled time. Without samples in the window it leaves the amounts out.
func levels(deltas []filewise.Delta) []filewise.Delta {
	out := make([]filewise.Delta, 0, len(deltas))
	for _, d := range deltas {
		looked, _ := Find(deltas, d.Probe, unitTime)
		if d.Unit == unitTime || d.Unit == unitSum && looked <= 0 {
			continue
		}
		if d.Unit == unitSum {
			d.Unit, d.Value = "B", d.Value/looked
		}
		out = append(out, d)
	}
	return out
}
