package experiment

import (
	"math"

	"filewise/verdict"
)

// narrows tells whether the blocks that are left are worth measuring though they could not
// decide anything: an interval is wider than the plan's bounds, and would by the last block
// be within them, or narrower by a quarter. Few blocks say little of their own spread: with
// each one more an interval shrinks faster than with the root of their number.
func (p Plan) narrows(r verdict.Result, look verdict.Look) bool {
	const worth = 0.75
	bounds := marginLog(p.Bounds)
	if look.Stop != verdict.ReasonFutile || bounds == 0 {
		return false
	}
	others := len(p.Layouts) - 1
	shrink := p.halfWidth(1, r.Config.MaxBlocks, others) / p.halfWidth(1, look.Block, others)
	for j, e := range look.Estimates {
		half := (e.Hi - e.Lo) / 2
		if e.Alive && p.Layouts[j].Name != p.Baseline && !(half <= bounds) && (shrink <= worth || shrink*half <= bounds) {
			return true
		}
	}
	return false
}

// narrowing are the rounds of a session, at least as many as given, that with all sessions for
// which the budget's part of a layout (left, in nanoseconds) has time bring the intervals within
// a quarter of the plan's bounds by the noise of the pilots, which are too short to show drift.
// Where none do, or the noise is not known, they are those that bring them about as far as can
// be: with more rounds more of the time is measured, with more sessions their spread is known
// better. Most of a session is measured where the budget allows that.
func (h history) narrowing(least int, s Schedule, c costs, left float64) int {
	const alike = 1.01 // of two half widths
	p, noise := h.plan, h.pilotNoise(s.Turn)
	half := func(rounds int) float64 {
		n := min(p.MaxBlocks, int(left/float64(c.session(rounds))))
		if n < leastSessions {
			return math.Inf(1)
		}
		return p.halfWidth(1, n, c.windows*(len(p.Layouts)-1)) / math.Sqrt(float64(rounds))
	}
	narrowest, most := math.Inf(1), least
	for r := c.rounds(least, left); r <= maxRounds; r++ {
		switch now := half(r); {
		case noise > 0 && noise*now <= marginLog(p.Bounds/4):
			return r
		case now <= narrowest:
			narrowest, most = now, r
		case now <= alike*narrowest:
			most = r
		}
	}
	return most
}
