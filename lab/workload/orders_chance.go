package workload

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// dice is a generator of pseudo-random numbers that needs no allocation.
type dice struct{ rand.PCG }

// Salts that separate streams of numbers with the same seed.
const (
	saltOperation = 1 << 40
	saltPause     = 2 << 40
	saltDeck      = 3 << 40
	saltRollback  = 4 << 40
	saltTable     = 5 << 40
	saltOrder     = 6 << 40
)

// dice returns the generator of a stream at position a, b.
func (w *orders) dice(stream, a, b uint64) dice {
	var d dice
	d.Seed(mix(w.seed^mix(stream)), mix(mix(a)+b))
	return d
}

// hash returns a random number for a stream at position a, b. It is cheaper than dice.
func (w *orders) hash(stream, a, b uint64) uint64 {
	return mix(mix(w.seed^mix(stream)) ^ mix(mix(a)+b))
}

// mix returns the finalizer of SplitMix64 for x (Steele, Lea and Flood 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// between returns a number from lo to hi, both included.
func (d *dice) between(lo, hi int64) int64 {
	n, _ := bits.Mul64(d.Uint64(), uint64(hi-lo+1))
	return lo + int64(n)
}

// percent returns true with a probability of n percent.
func (d *dice) percent(n int64) bool { return d.between(1, 100) <= n }

// fraction returns a number of at least 0 and below 1.
func (d *dice) fraction() float64 { return float64(d.Uint64()>>11) / (1 << 53) }

// exponential returns an exponentially distributed number with mean 1.
func (d *dice) exponential() float64 { return -math.Log1p(-d.fraction()) }

// chance holds the constants of non-uniform random numbers (2.1.6).
type chance struct {
	nameLoad, nameRun  int64 // C of last names, for loading and for looking up
	customer, item     int64 // C of customers and items
	customerA, itemA   int64 // A: 1023 and 8191 at scale 1
	names              int64 // number of last names that are looked up: the first customers of a district have one each
	letters, digitText []byte
}

// nameA is the A of last names; there are 1,000 last names.
const (
	nameA     = 255
	lastNames = 1000
)

func newChance(w *orders, seed uint64) chance {
	r := rand.New(rand.NewPCG(seed, 0x6f7264657273)) // "orders"
	c := chance{
		nameLoad: r.Int64N(nameA + 1), names: min(w.customers, lastNames),
		customerA: powerBelow(w.customers, specCustomers, 1023), itemA: powerBelow(w.items, specItems, 8191),
	}
	c.customer, c.item = r.Int64N(c.customerA+1), r.Int64N(c.itemA+1)
	// The distance between the two values of C is from 65 to 119, except 96 and 112 (2.1.6.1).
	delta := int64(96)
	for delta == 96 || delta == 112 {
		delta = 65 + r.Int64N(119-65+1)
	}
	if c.nameRun = c.nameLoad + delta; c.nameRun > nameA {
		c.nameRun = c.nameLoad - delta
	}
	c.letters = []byte(letters(r, PoolSpan+customerDataMost))
	c.digitText = make([]byte, PoolSpan+32)
	for i := range c.digitText {
		c.digitText[i] = byte('0' + r.IntN(10))
	}
	return c
}

// powerBelow scales A, a power of 2 minus 1, with the size of its range.
func powerBelow(n, spec, a int64) int64 {
	want := n * (a + 1) / spec
	p := int64(1)
	for p*2 <= want {
		p *= 2
	}
	return max(p-1, 1)
}

// nonUniform returns NURand(A, x, y) of clause 2.1.6.
func (d *dice) nonUniform(a, c, x, y int64) int64 {
	return ((d.between(0, a)|d.between(x, y))+c)%(y-x+1) + x
}

// syllables form last names from the digits of their number (4.3.2.3).
var syllables = [...]string{"BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"}

// appendName appends last name n, from 0 to 999.
func appendName(dst []byte, n int64) []byte {
	return append(append(append(dst, syllables[n/100%10]...), syllables[n/10%10]...), syllables[n%10]...)
}
