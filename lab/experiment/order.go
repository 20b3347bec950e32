package experiment

import (
	"math/rand/v2"
	"slices"

	"filewise"
)

// chainedFrom are the rules from which on rounds and blocks are chained: each begins with
// the layout that ended the one before, so that layouts follow themselves as often as others.
const chainedFrom = 3

// order is the order of block b over the live layouts: it follows from the seed, b, and the layouts. Plans of rules 1
// have a fresh random order in each block, plans of rules 2 have cycles of a Williams design. Since rules 3 blocks
// are chained (see chained). The pilots end with the layout that begins the first block.
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

// Order is the order of block b, from 1, over a number of layouts.
func (p Plan) Order(b, layouts int) []int {
	return p.order(b, upTo(layouts))
}

// upTo are the numbers from 0 to below n.
func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// turnOrder is the random order of n layouts in a round of a session, from 1; round 0 is the warm-up. It follows from
// the seed, the block, the attempt and the round. Rounds are balanced by a Williams design, since rules 3 chained:
// what a layout leaves behind reaches all layouts equally, itself included. Each session begins again.
func (p Plan) turnOrder(c filewise.Cell, round, n int) []int {
	const perBlock, perAttempt = 1 << 40, 1 << 32
	stream := func(design int) uint64 {
		return uint64(c.Block)*perBlock + uint64(c.Attempt)*perAttempt + uint64(design) + 1
	}
	if p.JudgedBy() >= chainedFrom {
		return chained(p.Seed, stream, round-1, n)
	}
	cycle := n + n%2*n
	return williams(p.Seed, stream, round+cycle-1, n) // the warm-up's is of a design of its own
}

// TurnOrder names the layouts in the order of their turns in a round of a block, with
// every layout in question and none failing. Round 0 is the warm-up.
func (p Plan) TurnOrder(block, round int) []string {
	in := p.Order(block, len(p.Layouts))
	out := make([]string, len(in))
	for i, k := range p.turnOrder(filewise.Cell{Block: block, Attempt: 1}, round, len(in)) {
		out[i] = p.Layouts[in[k]].Name
	}
	return out
}

// orderOf numbers a trial in the order in which trials ran; 0 if several layouts
// take turns in a block.
func (h history) orderOf(t *filewise.Trial) int {
	if h.plan.TakesTurns() {
		return 0
	}
	round := t.Cell.Block*h.plan.Attempts + t.Cell.Attempt // failed trials are repeated at the block's end
	return round*len(h.plan.Layouts) + t.Cell.Position + 1
}

// williams is row at, from 0, of designs of Williams (1949) one after the other over n layouts: n rows each, 2n for
// odd n, in which each layout has each place, and follows each other one within a row, equally often. Which layout is
// which, and which row comes when, is drawn again for each design; stream returns its random stream's number.
func williams(seed uint64, stream func(design int) uint64, at, n int) []int {
	rows := n + n%2*n
	r := rand.New(rand.NewPCG(seed, stream(at/rows)))
	layouts, row := r.Perm(n), r.Perm(rows)[at%rows]
	return zigzag(layouts, row)
}

// zigzag is a row of a Williams design, from 0; from n on the mirror images of the first n,
// which an odd number of layouts needs too.
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

// chained is row at, from 0, of serially balanced sequences (Finney and Outhwaite 1956) over n layouts: as williams,
// but each row begins with the layout that ended the one before. Each layout then follows each, itself included,
// equally often in 2n rows (two layouts: in 2, as A B, B A), whatever one leaves to the next. The first row is drawn,
// and each design after it begins with the same layout, for the chain to go on. Row −1 is random except for its end.
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

// circuit returns the rows of Williams designs over n layouts as a circuit: each begins with the layout that ended
// the one before. The first begins with the layout first, which the last row ends with. For an even number of layouts
// it takes two designs, of which not any two have one.
func circuit(r *rand.Rand, rows, first, n int) [][]int {
	for {
		from := make([][][]int, n) // rows by the layout that they begin with
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

// euler walks all rows that can be reached from a layout, and appends them last one first
// (Hierholzer 1873).
func euler(from [][][]int, at int, out [][]int) [][]int {
	for len(from[at]) > 0 {
		row := from[at][0]
		from[at] = from[at][1:]
		out = append(euler(from, row[len(row)-1], out), row)
	}
	return out
}
