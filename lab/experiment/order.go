package experiment

import (
	"math/rand/v2"
	"slices"

	"filewise"
)

// chainedFrom is the first version of the rules that chains rounds and blocks: each begins with the layout that ended
// the one before. Layouts then follow themselves as often as they follow others.
const chainedFrom = 3

// order returns the order of block b over the live layouts. It follows from the seed, b, and the layouts. By rules 1
// each block has a new random order; by rules 2 blocks are rows of Williams designs. From rules 3 on blocks are chained
// (see chained), and the pilots end with the layout that begins the first block.
func (p Plan) order(b int, live []int) []int {
	out := slices.Clone(live)
	switch {
	case len(live) < 2 || p.JudgedBy() == 1 || b == 0 && p.JudgedBy() < chainedFrom:
		r := rand.New(rand.NewPCG(p.Seed, uint64(b)))
		r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
		return out
	}
	stream := func(design int) uint64 { return 1<<32 | uint64(design) }
	places := williams
	if p.JudgedBy() >= chainedFrom {
		places = chained
	}
	for i, k := range places(p.Seed, stream, b-1, len(live)) {
		out[i] = live[k]
	}
	return out
}

// Order returns the order of block b (from 1; 0 for the pilots) over that many layouts.
func (p Plan) Order(b, layouts int) []int {
	return p.order(b, upTo(layouts))
}

// upTo returns the numbers 0 to n−1.
func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// turnOrder returns the random order of n layouts in a round of an interleaved block. Rounds count from 1; round 0 is
// the warm-up. The order follows from the seed, the block, the attempt and the round. A Williams design balances the
// rounds, chained since rules 3: whatever a layout leaves behind reaches all layouts equally, itself included. Each
// interleaved block starts a new sequence.
func (p Plan) turnOrder(c filewise.Cell, round, n int) []int {
	const perBlock, perAttempt = 1 << 40, 1 << 32
	stream := func(design int) uint64 {
		return uint64(c.Block)*perBlock + uint64(c.Attempt)*perAttempt + uint64(design) + 1
	}
	if p.JudgedBy() >= chainedFrom {
		return chained(p.Seed, stream, round-1, n)
	}
	cycle := n + n%2*n
	return williams(p.Seed, stream, round+cycle-1, n) // the warm-up uses a separate design
}

// TurnOrder returns the layouts' names in the order of their turns in a round of a block. It assumes that every layout
// is live and none fails. Round 0 is the warm-up.
func (p Plan) TurnOrder(block, round int) []string {
	in := p.Order(block, len(p.Layouts))
	out := make([]string, len(in))
	for i, k := range p.turnOrder(filewise.Cell{Block: block, Attempt: 1}, round, len(in)) {
		out[i] = p.Layouts[in[k]].Name
	}
	return out
}

// orderOf returns the place of a trial in the order in which trials ran. It returns 0 if layouts take turns in a block.
func (h history) orderOf(t *filewise.Trial) int {
	if h.plan.TakesTurns() {
		return 0
	}
	round := t.Cell.Block*h.plan.Attempts + t.Cell.Attempt // failed trials are repeated at the end of their block
	return round*len(h.plan.Layouts) + t.Cell.Position + 1
}

// williams returns row at (from 0) of a sequence of Williams designs (1949) over n layouts. A design has n rows, or 2n
// if n is odd. In it each layout has each place equally often, and follows each other layout within a row equally
// often. For each design the assignment of layouts and the order of rows are drawn again; stream returns the number of
// the design's random stream.
func williams(seed uint64, stream func(design int) uint64, at, n int) []int {
	rows := n + n%2*n
	r := rand.New(rand.NewPCG(seed, stream(at/rows)))
	layouts, row := r.Perm(n), r.Perm(rows)[at%rows]
	return zigzag(layouts, row)
}

// zigzag returns a row (from 0) of a Williams design. Rows from n on are mirror images of the first n rows, which an
// odd number of layouts needs too.
func zigzag(layouts []int, row int) []int {
	n := len(layouts)
	out := make([]int, n)
	for i := range out {
		step := i / 2 // 0, n−1, 1, n−2, …
		if i%2 == 1 {
			step = n - (i+1)/2
		}
		place := i
		if row >= n {
			place = n - 1 - i
		}
		out[place] = layouts[(step+row)%n]
	}
	return out
}

// chained returns row at (from 0) of serially balanced sequences (Finney and Outhwaite 1956) over n layouts. They are
// like williams, but each row begins with the layout that ended the row before. So in 2n rows each layout follows each
// layout, itself included, equally often. Two layouts need only 2 rows: A B, B A. The first row is drawn. Each later
// design begins with the same layout, so that the chain goes on. Row −1 is random except for its last layout.
func chained(seed uint64, stream func(design int) uint64, at, n int) []int {
	rows := 2 * n
	if n == 2 {
		rows = 2
	}
	first := rand.New(rand.NewPCG(seed, stream(0))).IntN(n)
	if at < 0 {
		out := rand.New(rand.NewPCG(^seed, stream(0))).Perm(n)
		i := slices.Index(out, first)
		out[i], out[n-1] = out[n-1], out[i]
		return out
	}
	return circuit(rand.New(rand.NewPCG(seed, ^stream(at/rows))), rows, first, n)[at%rows]
}

// circuit returns the rows of Williams designs over n layouts as a circuit: each row begins with the layout that ended
// the row before. The first row begins with the layout first, and the last row ends with it. An even n takes two
// designs. Not every pair of designs has a circuit, so circuit draws until it finds one.
func circuit(r *rand.Rand, rows, first, n int) [][]int {
	for {
		from := make([][][]int, n) // rows by their first layout
		layouts := r.Perm(n)
		for i, row := range r.Perm(rows) {
			if n%2 == 0 && i == n {
				layouts = r.Perm(n)
			}
			if n%2 == 0 {
				row = i % n
			}
			z := zigzag(layouts, row)
			from[z[0]] = append(from[z[0]], z)
		}
		for _, list := range from {
			r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		}
		if out := euler(from, first, nil); len(out) == rows {
			slices.Reverse(out)
			return out
		}
	}
}

// euler walks all rows reachable from a layout and appends them to out, last row first (Hierholzer 1873).
func euler(from [][][]int, at int, out [][]int) [][]int {
	for len(from[at]) > 0 {
		row := from[at][0]
		from[at] = from[at][1:]
		out = append(euler(from, row[len(row)-1], out), row)
	}
	return out
}
