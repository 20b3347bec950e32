package workload

import (
	"context"
	"crypto/md5"
	"encoding/binary"
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
// them of the CRC-32 (IEEE) of "id,payload", or, where an engine has no CRC-32, of the
// first 32 bits of its MD5. 2^31 rows stay below 2^63.
type sum struct {
	rows   int64
	digest uint64
	md5    bool
}

// md5Mark stands before a sum of MD5s.
const md5Mark = "md5:"

// chunk is the number of rows that are summed between two looks at the context.
const chunk = 1 << 14

// sum is the checksum of the rows that the ledger counts, on all cores.
func (g *rows) sum(ctx context.Context, l filewise.Ledger, byMD5 bool) (sum, error) {
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
	var digest atomic.Uint64
	eg, ctx := errgroup.WithContext(ctx)
	for range runtime.GOMAXPROCS(0) {
		eg.Go(func() error {
			for ctx.Err() == nil {
				i := next.Add(1) - 1
				if i >= int64(len(parts)) {
					return nil
				}
				p := parts[i]
				digest.Add(g.digest(pool, p.w, p.first, p.n, byMD5))
			}
			return ctx.Err()
		})
	}
	if err := eg.Wait(); err != nil {
		return sum{}, err
	}
	return sum{l.Total(), digest.Load(), byMD5}, nil
}

// digest is the sum of the digests of rows first … first+n−1 of connection w.
func (g *rows) digest(pool []byte, w int, first, n int64, byMD5 bool) uint64 {
	var total uint64
	var buf []byte
	for i := first; i < first+n; i++ {
		id, offset := g.row(w, i)
		buf = append(strconv.AppendInt(buf[:0], id, 10), ',')
		buf = append(buf, pool[offset:offset+g.rowBytes]...)
		if byMD5 {
			h := md5.Sum(buf)
			total += uint64(binary.BigEndian.Uint32(h[:]))
		} else {
			total += uint64(crc32.ChecksumIEEE(buf))
		}
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
