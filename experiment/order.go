package experiment

import (
	"math/rand/v2"
	"slices"

	"filewise"
)

// order is the order of block b over the live layouts: what follows from the seed, b,
// and the layouts. Plans of rules 1 have a fresh random order in each block.
//
// Since then blocks come in cycles of a Williams design (1949), in which each layout
// follows each other equally often, so that what a trial leaves to the next (dirty
// pages, warm caches) is shared out evenly. Which layout has which place in the design,
// and which row of it comes when, is drawn anew for each cycle: a disturbance with a
// period of its own hits no layout more than others. A cycle of an even number of
// layouts has as many blocks, of an odd one twice as many.
func (p Plan) order(b int, live []int) []int {
	out := slices.Clone(live)
	if p.JudgedBy() == 1 || b == 0 || len(live) < 2 {
		r := rand.New(rand.NewPCG(p.Seed, uint64(b)))
		r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
		return out
	}
	for i, k := range williams(p.Seed, func(design int) uint64 { return 1<<32 | uint64(design) }, b-1, len(live)) {
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

// orderOf numbers a trial in the order in which trials ran; 0 where several layouts
// take turns in a block.
func (h history) orderOf(t *filewise.Trial) int {
	if h.plan.TakesTurns() {
		return 0
	}
	round := t.Cell.Block*h.plan.Attempts + t.Cell.Attempt // failed trials are repeated at the block's end
	return round*len(h.plan.Layouts) + t.Cell.Position + 1
}

// williams is row at, from 0, of designs of Williams (1949) one after the other over n
// layouts: n rows each, 2n where n is odd, in which each layout has each place, and
// follows each other one within a row, equally often. Which layout is which, and which
// row comes when, is drawn anew for each design, of which stream tells the number.
func williams(seed uint64, stream func(design int) uint64, at, n int) []int {
	rows := n + n%2*n
	r := rand.New(rand.NewPCG(seed, stream(at/rows)))
	layouts, row := r.Perm(n), r.Perm(rows)[at%rows]
	out := make([]int, n)
	for i := range out {
		zigzag := i / 2 // 0, n−1, 1, n−2, …
		if i%2 == 1 {
			zigzag = n - (i+1)/2
		}
		place := i
		if row >= n { // the mirror image, which an odd number of layouts needs too
			place = n - 1 - i
		}
		out[place] = layouts[(zigzag+row)%n]
	}
	return out
}
