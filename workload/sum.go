package workload

import (
	"context"
	"fmt"
	"hash/crc32"
	"math"
	"runtime"
	"strconv"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"filewise"
)

// sum is an order-independent checksum of rows: their number, and the sum over
// them of the CRC-32 (IEEE) of "id,payload". 2^31 rows stay below 2^63.
type sum struct {
	rows int64
	crc  uint64
}

// chunk is the number of rows that are summed between two looks at the context.
const chunk = 1 << 14

// sum is the checksum of the rows that the ledger counts, on all cores.
func (g *rows) sum(ctx context.Context, l filewise.Ledger) (sum, error) {
	type part struct {
		w     int
		first int64
		n     int64
	}
	var parts []part
	for w, n := range l {
		for first := int64(0); first < n; first += chunk {
			parts = append(parts, part{w, first, min(chunk, n-first)})
		}
	}
	pool := []byte(g.pool)
	var next atomic.Int64
	var crc atomic.Uint64
	eg, ctx := errgroup.WithContext(ctx)
	for range runtime.GOMAXPROCS(0) {
		eg.Go(func() error {
			for ctx.Err() == nil {
				i := next.Add(1) - 1
				if i >= int64(len(parts)) {
					return nil
				}
				p := parts[i]
				crc.Add(g.crc(pool, p.w, p.first, p.n))
			}
			return ctx.Err()
		})
	}
	if err := eg.Wait(); err != nil {
		return sum{}, err
	}
	return sum{l.Total(), crc.Load()}, nil
}

// crc is the sum of the CRC-32s of rows first … first+n−1 of connection w.
func (g *rows) crc(pool []byte, w int, first, n int64) uint64 {
	var total uint64
	var buf [24]byte
	for i := first; i < first+n; i++ {
		id, offset := g.row(w, i)
		head := append(strconv.AppendInt(buf[:0], id, 10), ',')
		c := crc32.ChecksumIEEE(head)
		total += uint64(crc32.Update(c, crc32.IEEETable, pool[offset:offset+g.rowBytes]))
	}
	return total
}

// whole is a whole number ≥ 0 as a driver may return it. Anything else,
// a fraction or NULL included, is an error.
func whole(v any) (int64, error) {
	var n int64
	switch v := v.(type) {
	case int64:
		n = v
	case int:
		n = int64(v)
	case uint64:
		if v > math.MaxInt64 {
			return 0, fmt.Errorf("%d is too large", v)
		}
		n = int64(v)
	case []byte:
		return whole(string(v))
	case string:
		x, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%q is not a whole number: %w", v, err)
		}
		n = x
	default:
		return 0, fmt.Errorf("%v (%T) is not a whole number", v, v)
	}
	if n < 0 {
		return 0, fmt.Errorf("%d is negative", n)
	}
	return n, nil
}
