package workload

import (
	"context"
	"crypto/md5"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"filewise"
)

// Row i of connection w follows from the seed, w and i alone. Intermediate values stay below 2^62, so that a server can
// also compute the row in signed 64-bit integers:
//
//	q       = i × Connections + w                     the row's number, from 0
//	x       = ((q mod P) × A + B) mod P               P = Modulus = 2^31 − 1
//	y       = x × x mod P
//	id      = q + 1                                   sequential key
//	id      = (y × y mod P) × x mod P + 1             random key: x^5 + 1
//	payload = substring of Pool from (y mod PoolSpan), counted from 0, of RowBytes
//
// A and B come from the seed, 1 ≤ A < P, 0 ≤ B < P. The map x → x^5 is a bijection modulo the prime P, because 5 has no
// factor in common with P − 1 = 2·3²·7·11·31·151·331. So random keys are unique while q < P, for 2,147,483,647 rows.
const (
	Modulus  = 1<<31 - 1
	PoolSpan = 1 << 16 // number of different payloads
)

// alphabet has 64 characters. None of them is special in an SQL dialect or a shell.
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// rows generates the rows of workload inserts. It is safe for concurrent use.
type rows struct {
	connections int64
	rowBytes    int
	random      bool
	a, b        int64
	pool        string
}

func newRows(p Params, seed uint64) *rows {
	r := rand.New(rand.NewPCG(seed, 0x66696c6577697365)) // "filewise"
	g := &rows{
		connections: int64(p.Connections), rowBytes: p.RowBytes, random: p.Key == KeyRandom,
		a: 1 + r.Int64N(Modulus-1), b: r.Int64N(Modulus),
	}
	g.pool = letters(r, PoolSpan+p.RowBytes)
	return g
}

// letters returns n random characters of the alphabet, from 6 bits each.
func letters(r *rand.Rand, n int) string {
	text := make([]byte, n)
	var bits uint64
	for i := range text {
		if i%10 == 0 {
			bits = r.Uint64()
		}
		text[i] = alphabet[bits&63]
		bits >>= 6
	}
	return string(text)
}

// row returns the key of row i of connection w, and the position of its payload in the pool.
func (g *rows) row(w int, i int64) (id int64, offset int) {
	q := i*g.connections + int64(w)
	x := (q%Modulus*g.a + g.b) % Modulus
	y := x * x % Modulus
	if g.random {
		return y*y%Modulus*x%Modulus + 1, int(y % PoolSpan)
	}
	return q + 1, int(y % PoolSpan)
}

// Args appends the key and the payload of row i of connection w.
func (g *rows) Args(dst []any, w int, i int64) []any {
	id, offset := g.row(w, i)
	return append(dst, id, g.pool[offset:offset+g.rowBytes])
}

// Pool returns the text that payloads are cut from: PoolSpan + RowBytes characters.
func (g *rows) Pool() string { return g.pool }

// limit returns how many rows one connection can insert with unique keys.
func (g *rows) limit() int64 {
	if g.random {
		return Modulus / g.connections
	}
	return (1 << 62) / g.connections
}

// sum is an order-independent checksum of rows: their number, and a sum over all rows. It adds up the CRC-32 (IEEE) of
// "id,payload". If an engine has no CRC-32, it adds up the first 32 bits of the text's MD5. For 2^31 rows the sum stays
// below 2^63.
type sum struct {
	rows   int64
	digest uint64
	md5    bool
}

// md5Mark is the prefix of a sum of MD5s.
const md5Mark = "md5:"

// chunk is the number of rows that are summed between two checks of the context.
const chunk = 1 << 14

// sum returns the checksum of the rows that the ledger counts, computed on all cores.
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

// digest returns the sum of the digests of rows first … first+n−1 of connection w.
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

// whole converts a whole number ≥ 0 as drivers return it. Anything else, such as a fraction or NULL, is an error.
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
