package experiment

import (
	"math"

	"filewise/verdict"
)

// narrows tells whether the blocks that are left are worth measuring though they could not
// decide anything: an interval is wider than the plan's bounds, and would by the last block
// be within them, or narrower by a quarter. Intervals shrink with the root of the number of
// blocks at least.
func (p Plan) narrows(r verdict.Result, look verdict.Look) bool {
	const worth = 0.75
	bounds := marginLog(p.Bounds)
	if look.Stop != verdict.ReasonFutile || bounds == 0 {
		return false
	}
	shrink := math.Sqrt(float64(look.Block) / float64(r.Config.MaxBlocks))
	for j, e := range look.Estimates {
		half := (e.Hi - e.Lo) / 2
		if e.Alive && p.Layouts[j].Name != p.Baseline && !(half <= bounds) && (shrink <= worth || shrink*half <= bounds) {
			return true
		}
	}
	return false
}

// narrowing are the rounds of a session with which all planned sessions, by the noise that the
// pilots have seen, bring the intervals within half of the plan's bounds, or fill the budget's
// part of a layout, in nanoseconds: as many as there are already at least.
func (h history) narrowing(s Schedule, c costs, left float64) int {
	p := h.plan
	want := marginLog(p.Bounds / 2)
	if want == 0 || left <= 0 || p.MaxBlocks < 2 || len(p.Layouts) < 2 {
		return s.Rounds
	}
	half := p.halfWidth(h.pilotNoise(s.Turn), p.MaxBlocks) // of one round
	fill := (left/float64(p.MaxBlocks) - float64(c.once)) / float64(c.measured+c.around)
	return max(s.Rounds, int(min(math.Ceil(half*half/(want*want)), fill, maxRounds)))
}
