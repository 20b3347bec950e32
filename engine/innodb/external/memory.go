package external

import (
	"context"
	"strings"
	"sync"
	"time"

	"filewise"
)

// memory is a probe of the buffer pool, as the memory that can hold the data. If the system caches the files, too, that
// memory is not known.
type memory struct {
	build *build

	mu   sync.Mutex
	last time.Time
	sums [2]float64 // bytes × seconds, and seconds
}

// read adds the pool's present size for the time since the last reading.
func (m *memory) read(ctx context.Context) ([]filewise.Counter, error) {
	link, err := m.build.Link()
	if err != nil {
		return nil, err
	}
	var pool float64
	var method string
	err = link.Control.QueryRowContext(ctx, "SELECT @@innodb_buffer_pool_size, COALESCE(@@innodb_flush_method, '')").Scan(&pool, &method)
	if err != nil || !strings.HasPrefix(method, "O_DIRECT") {
		return nil, link.Explain(err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	if !m.last.IsZero() {
		since := now.Sub(m.last).Seconds()
		m.sums[0], m.sums[1] = m.sums[0]+pool*since, m.sums[1]+since
	}
	m.last = now
	return []filewise.Counter{{Name: filewise.MemoryTotal, Unit: filewise.UnitSummed, Value: m.sums[0]},
		{Name: filewise.UnitLooked, Unit: filewise.UnitLooked, Value: m.sums[1]}}, nil
}
