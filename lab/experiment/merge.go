package experiment

import (
	"math"

	"filewise"
	"filewise/lab/drive"
	"filewise/lab/probe"
	"filewise/lab/verdict"
)

// merged returns the k-th measures of all turns of a layout as one measure, without the turns' leads. Work, times,
// failures and counters are summed; the slices are concatenated.
func merged(turns [][]filewise.Measure, k int) (filewise.Measure, error) {
	first := turns[0][k]
	out := filewise.Measure{Operation: first.Operation, Unit: first.Unit, SliceLength: first.SliceLength, Connections: first.Connections,
		Paced: first.Paced}
	var hists [][]byte
	var types []map[string]filewise.TypeMeasure
	var each []filewise.Measure
	if first.Rest != nil {
		out.Rest = &filewise.Rest{}
	}
	for _, turn := range turns {
		t := turn[k]
		out.Rest = addRest(out.Rest, t.Rest)
		each = append(each, t)
		out.Work, out.Bytes = out.Work+t.Work, out.Bytes+t.Bytes
		out.Tail, out.Sync = out.Tail+t.Tail, out.Sync+t.Sync
		out.Window[1] += t.Window[1] - t.Window[0]
		out.Slices = append(out.Slices, within(t)...)
		out.Errors = added(out.Errors, t.Errors)
		hists, types = append(hists, t.Hist), append(types, t.Types)
	}
	mean := out.Window[1].Seconds() / float64(len(turns))
	for _, t := range each {
		work, took := t.Work, (t.Window[1] - t.Window[0]).Seconds()
		if math.Abs(took-mean) > 1e-9*mean {
			work *= mean / took
		}
		out.Turns = append(out.Turns, work)
	}
	out.Deltas = addedUp(each)
	var err error
	if out.Types, err = drive.MergeTypes(types); err != nil {
		return out, err
	}
	out.Hist, err = drive.MergeHists(hists...)
	return out, err
}

// within returns the slices of the measured part of a turn. If a turn is fixed work, that includes the last slice,
// which is shorter.
func within(m filewise.Measure) []int64 {
	if m.SliceLength <= 0 {
		return nil
	}
	length := m.Window[1] - m.Window[0]
	if m.Window[0] == 0 {
		length += m.SliceLength - 1
	}
	out := make([]int64, length/m.SliceLength)
	if from := int(m.Window[0] / m.SliceLength); from < len(m.Slices) {
		copy(out, m.Slices[from:])
	}
	return out
}

// addedUp returns the deltas of all turns: sums for counters, means for shares and levels. A delta that one turn lacks
// is left out, because a sum of the other turns would be too small. Waits are the exception: a wait that a turn lacks
// did not happen in it.
func addedUp(turns []filewise.Measure) []filewise.Delta {
	sums := make(map[filewise.Delta]float64)
	in := make(map[filewise.Delta]int)
	var keys []filewise.Delta
	for _, t := range turns {
		for _, d := range t.Deltas {
			value := d.Value
			d.Value = 0
			if in[d] == 0 {
				keys = append(keys, d)
			}
			sums[d], in[d] = sums[d]+value, in[d]+1
		}
	}
	var out []filewise.Delta
	for _, d := range keys {
		if in[d] < len(turns) && (d.Class == "" || !filewise.OfWaits(d.Probe)) {
			continue
		}
		sum, n := sums[d], in[d] // read before d.Value changes, since d is the key
		if d.Value = sum; probe.IsMean(d) {
			d.Value = sum / float64(n)
		}
		out = append(out, d)
	}
	return out
}

// narrows reports whether the blocks left are worth measuring although they cannot decide anything. They are if an
// interval is wider than the plan's bounds, and the last block would bring it within the bounds or make it narrower by
// a quarter. Few blocks estimate their own spread badly. So with each block an interval shrinks faster than with the
// square root of their number.
func (p Plan) narrows(r verdict.Result, analysis verdict.Analysis) bool {
	const worth = 0.75
	bounds := marginLog(p.Bounds)
	if analysis.Stop != verdict.ReasonFutile || bounds == 0 {
		return false
	}
	others := len(p.Layouts) - 1
	shrink := p.halfWidth(1, r.Config.MaxBlocks, others) / p.halfWidth(1, analysis.Block, others)
	for j, e := range analysis.Estimates {
		half := (e.Hi - e.Lo) / 2
		if e.Alive && p.Layouts[j].Name != p.Baseline && !(half <= bounds) && (shrink <= worth || shrink*half <= bounds) {
			return true
		}
	}
	return false
}

// narrowing returns the number of rounds per interleaved block, at least the given number. The number of blocks follows
// from the budget left per layout (in nanoseconds). Rounds and interleaved blocks together should bring the intervals
// within a quarter of the plan's bounds, by the noise of the pilots, which are too short to show drift. If no number
// does, or the noise is not known, it takes the largest that comes about as near as possible. More rounds mean that
// more of the time is measured; more interleaved blocks mean that their spread is estimated better. Most of a block is
// measured if the budget allows that.
func (h history) narrowing(least int, s Schedule, c costs, left float64) int {
	const closeEnough = 1.01 // two half widths within 1 % count as equal
	p, noise := h.plan, h.pilotNoise(s.Turn)
	half := func(rounds int) float64 {
		n := min(p.MaxBlocks, int(left/float64(c.block(rounds))))
		if n < p.leastBlocks() {
			return math.Inf(1)
		}
		return p.halfWidth(1, n, c.windows*(len(p.Layouts)-1)) / math.Sqrt(float64(rounds))
	}
	narrowest, most := math.Inf(1), least
	for r := c.rounds(least, left, p.leastBlocks()); r <= maxRounds; r++ {
		switch now := half(r); {
		case math.IsInf(now, 1): // longer interleaved blocks leave no time for enough of them either
			return most
		case noise > 0 && noise*now <= marginLog(p.Bounds/4):
			return r
		case now <= narrowest:
			narrowest, most = now, r
		case now <= closeEnough*narrowest:
			most = r
		}
	}
	return most
}
