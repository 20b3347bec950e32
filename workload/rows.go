package workload

import "math/rand/v2"

// Row i of connection w follows from the seed, w and i alone, by integer
// arithmetic whose intermediate values stay below 2^62, so that a server can
// compute it in signed 64-bit integers as well:
//
//	q       = i × Connections + w                     the row's number, from 0
//	x       = ((q mod P) × A + B) mod P               P = Modulus = 2^31 − 1
//	y       = x × x mod P
//	id      = q + 1                                   sequential key
//	id      = (y × y mod P) × x mod P + 1             random key: x^5 + 1
//	payload = substring of Pool from (y mod PoolSpan), counted from 0, of RowBytes
//
// A and B come from the seed, 1 ≤ A < P, 0 ≤ B < P. x → x^5 is a bijection
// modulo the prime P because 5 has no factor in common with
// P − 1 = 2·3²·7·11·31·151·331, so random keys are unique as long as q < P:
// for 2,147,483,647 rows.
const (
	Modulus  = 1<<31 - 1
	PoolSpan = 1 << 16 // number of different payloads
)

// alphabet has 64 letters, none of them one that an SQL dialect or a shell treats specially.
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// rows generates the rows of the workload inserts. It is safe for concurrent use.
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

// letters are n random letters of the alphabet, of 6 bits each.
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

// row is the key and the place in the pool of row i of connection w.
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

// Pool is the text that payloads are cut from: PoolSpan + RowBytes letters.
func (g *rows) Pool() string { return g.pool }

// limit is the number of rows that one connection can insert with unique keys.
func (g *rows) limit() int64 {
	if g.random {
		return Modulus / g.connections
	}
	return (1 << 62) / g.connections
}
