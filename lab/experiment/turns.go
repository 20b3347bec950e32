package experiment

import (
	"math"
	"time"

	"filewise"
	"filewise/lab/verdict"
)

// Lengths of interleaved blocks that pilots fix. A layout's turn is just long enough that most of a round is measured,
// and that it covers several correlation times of throughput. Longer turns would only let the machine drift further
// between layouts. An interleaved block has just enough rounds that most of it is measured. It has no more, because
// each block is one observation, and their number counts.
const (
	// MinTurn is the shortest turn of a layout in an interleaved block. In a shorter turn, coming to rest and starting
	// again would take most of the time.
	MinTurn = 200 * time.Millisecond
	// maxTurn is the longest turn that pilots choose, unless the time around a turn is longer. The turn then lasts at
	// least as long as that.
	maxTurn = 2 * time.Second
	// leadShare divides a turn: 1/leadShare of it runs before, unmeasured. New connections and the state after rest then
	// do not affect the turn.
	leadShare = 10
	// warmUpShare bounds the warm-up of turns that are judged from rest to rest: it takes 1/warmUpShare of usualRounds
	// turns. The start of a turn recurs in each and is part of what is judged, so that only the youth of a build is left
	// to discard, and what a pilot shows of both is too much.
	warmUpShare = 10
	// aroundShare is the ratio of a turn's length to the time around the turn.
	aroundShare = 4
	// correlationShare is the ratio of a turn's length to its slices' autocorrelation time.
	correlationShare = 4
	// measuringShare is the share of an interleaved block that should be measured.
	measuringShare = 0.72
	// usualBlocks must fit the budget before interleaved blocks are lengthened to reach measuringShare. With few blocks,
	// intervals are wide mainly because their spread is poorly known.
	usualBlocks = 6
	// usualRounds is the fewest rounds if there is time: turns cancel what changes between them.
	usualRounds  = 4
	fewestRounds = 2 // fewest rounds if bounds are set: more interleaved blocks may resolve more
	maxRounds    = 200
	// pilotTime bounds the pilot of a trial of fixed work. The pilot does one part of the work after the other, of at most
	// pilotParts.
	pilotTime  = 2 * time.Second
	pilotParts = 256
)

// turn is a layout's work in one turn of an interleaved block: a part of fixed work, or as much as fits.
type turn struct {
	length, lead time.Duration // measured, and before that. 0 means as long as the work takes
	part, of     int           // of fixed work: the present part, and the number of parts
}

// partOf returns each connection's operations in this part, in whole transactions.
func (t *turn) partOf(ops []int64, multiple int64) []int64 {
	at := func(n int64, part int) int64 {
		if part >= t.of {
			return n
		}
		x := n * int64(part) / int64(t.of)
		return x - x%max(multiple, 1)
	}
	return filewise.Each(ops, func(n int64) int64 { return at(n, t.part+1) - at(n, t.part) })
}

// transactions returns the number of each connection's transactions in fixed work. It is at least one.
func (p Plan) transactions() int64 {
	return max(p.Work/max(int64(p.Params.RowBytes)*int64(p.Params.Connections)*int64(p.Params.CommitEvery), 1), 1)
}

// pilotParts returns the number of parts that fixed work is divided into for a pilot, which does the first ones.
func (p Plan) pilotParts() int { return int(min(p.transactions(), pilotParts)) }

// lead returns how long a load runs before each turn, in whole slices.
func (p Plan) lead(s Schedule) time.Duration {
	d := min(s.WarmUp, s.Turn/leadShare)
	if p.SliceLength > 0 {
		d -= d % p.SliceLength
	}
	return d
}

// costs holds what a layout's part in an interleaved block takes, on average over the pilots.
type costs struct {
	once     time.Duration // build, load, settle, observe, check
	measured time.Duration // of a turn that lasts as long as its work, or of all fixed work
	around   time.Duration // per turn: connections, caches, until all is durable
	drain    time.Duration // the part of around that is judged: draining work from rest to rest
	stays    time.Duration // longest correlation time of a layout's throughput
	windows  int           // phases that last a turn each
	pilots   int
}

func (h history) costs() costs {
	c := costs{windows: 1}
	for _, l := range h.plan.Layouts {
		t := h.tries[cellKey{0, l.Name}].done
		if t == nil || len(t.Measures) == 0 {
			continue
		}
		c.pilots++
		c.windows = max(c.windows, len(windowed(*t)))
		c.add(h.plan, *t)
	}
	if n := time.Duration(c.pilots); n > 0 {
		c.once, c.measured, c.around, c.drain = c.once/n, c.measured/n, c.around/n, c.drain/n
	}
	return c
}

func (c *costs) add(p Plan, t filewise.Trial) {
	turns, measured := 1, time.Duration(0)
	for _, m := range windowed(t) {
		turns = max(turns, len(m.Turns))
		measured += m.Window[1] - m.Window[0]
		if p.Window > 0 {
			c.stays = max(c.stays, correlationTime(m))
		}
	}
	around := stageTime(t, filewise.StageMeasure) - measured + stageTime(t, filewise.StageWarmUp) + stageTime(t, filewise.StageDrain) +
		stageTime(t, filewise.StageCool)
	c.once += t.Elapsed - measured - around - onceOnly(t)
	c.around += around / time.Duration(turns)
	if rested(t) {
		c.drain += stageTime(t, filewise.StageDrain) / time.Duration(turns)
	}
	if p.Work > 0 && windowed(t)[0].Bytes > 0 {
		measured = time.Duration(float64(measured) * float64(p.Work) / windowed(t)[0].Bytes)
	}
	c.measured += measured
}

// takeTurns fixes the turns and rounds of interleaved blocks, and how many blocks the budget allows.
func (h history) takeTurns(s Schedule) Schedule {
	p, c := h.plan, h.costs()
	if c.pilots == 0 {
		return s
	}
	whole := p.Window // least measured time of a layout in an interleaved block
	switch {
	case p.Window > 0:
		s.Turn = p.turnOf(c)
		if p.WarmUp < 0 && p.Observe == ObserveRest && s.OthersWrite == 0 {
			s.WarmUp = min(s.WarmUp, p.whole(max(minWarmUp, usualRounds*s.Turn/warmUpShare)))
		}
		c.measured = s.Turn * time.Duration(c.windows)
		c.once += s.WarmUp * time.Duration(c.windows)
		c.around += p.lead(s) * time.Duration(c.windows)
		s.Rounds = max(int(whole/s.Turn), 1)
	case p.Work > 0:
		s.Rounds = p.roundsOf(c)
		c.measured /= time.Duration(s.Rounds)
	default:
		s.Rounds = 1
	}
	layouts := float64(h.inQuestion())
	left := func(budget time.Duration) float64 {
		return budgetShare * float64(budget-h.pilotTime()-h.furtherBuilds(p.Builds)) / layouts
	}
	if p.Rounds > 0 {
		s.Rounds = p.Rounds
	} else if p.WindowByPilots && p.Work == 0 {
		if p.Bounds > 0 && p.firstBudget() > 0 && len(p.Layouts) > 1 {
			s.Rounds = h.narrowing(max(s.Rounds, fewestRounds), s, c, left(p.firstBudget()))
		} else {
			s.Rounds = c.rounds(max(s.Rounds, usualRounds), left(p.firstBudget()), p.leastBlocks())
		}
	}
	s.TrialTime = c.block(s.Rounds)
	if p.Budget > 0 {
		n := int(left(p.Budget) / float64(s.TrialTime))
		s.MaxBlocks = min(p.MaxBlocks, max(n, verdict.FirstAnalysis))
		s.ByBudget = s.MaxBlocks < p.MaxBlocks
	}
	return s
}

// leastBlocks returns how many interleaved blocks must fit the budget, whatever their length. It is as many as an
// interval needs, and one more, because trials take longer than pilots predict.
func (p Plan) leastBlocks() int {
	return min(max(usualBlocks, p.FirstClaim()+1), max(p.MaxBlocks, 1))
}

// inQuestion returns the number of layouts whose pilots are done or still to come. It is at least 1.
func (h history) inQuestion() int {
	n := 0
	for i, l := range h.plan.Layouts {
		if h.open(0, i) || h.tries[cellKey{0, l.Name}].done != nil {
			n++
		}
	}
	return max(n, 1)
}

// turnOf returns the measured time of a turn, in whole slices. If the window is given, several turns make up that
// window.
func (p Plan) turnOf(c costs) time.Duration {
	if p.Rounds > 0 {
		return p.Window / time.Duration(p.Rounds)
	}
	around := c.around / time.Duration(c.windows)
	t := min(max(MinTurn, aroundShare*around, correlationShare*c.stays), max(maxTurn, around))
	if !p.WindowByPilots {
		return p.Window / max(p.Window/min(t, p.Window), min(2, max(p.Window/MinTurn, 1)))
	}
	return p.whole(t)
}

// whole rounds a duration up to whole slices.
func (p Plan) whole(d time.Duration) time.Duration {
	if p.SliceLength <= 0 {
		return d
	}
	return (d + p.SliceLength - 1) / p.SliceLength * p.SliceLength
}

// roundsOf returns the number of turns that fixed work is divided into. In each turn every connection has something to
// commit.
func (p Plan) roundsOf(c costs) int {
	t := min(max(MinTurn, aroundShare*c.around), max(maxTurn, c.around))
	return int(min(max(c.measured/t, 2), maxRounds, time.Duration(p.transactions())))
}

// block returns the time of a layout's part in an interleaved block of that many rounds.
func (c costs) block(rounds int) time.Duration {
	return c.once + time.Duration(rounds)*(c.measured+c.around)
}

// rounds returns how many rounds it takes to reach measuringShare: at least the given number, and at least one. That
// many interleaved blocks must fit left, a layout's part of the budget in nanoseconds.
func (c costs) rounds(least int, left float64, blocks int) int {
	gain := float64(c.measured+c.drain) - measuringShare*float64(c.measured+c.around)
	want := least
	if gain > 0 {
		want = max(least, int(min(math.Ceil(measuringShare*float64(c.once)/gain), maxRounds)))
	}
	if left > 0 {
		want = min(want, int((left/float64(blocks)-float64(c.once))/float64(c.measured+c.around)))
	}
	return max(want, 1)
}

// correlationTime returns how long a measure's throughput stays correlated. It is the integrated autocorrelation time
// of its slices (Sokal 1997: 1 + 2 Σ ρ, summed while ρ is positive, over at most a quarter of the slices).
func correlationTime(m filewise.Measure) time.Duration {
	x := steadySlices(m)
	mean, variance, ok := moments(x)
	if !ok {
		return 0
	}
	sum := 1.0
	for lag := 1; lag <= len(x)/4; lag++ {
		product := 0.0
		for i := lag; i < len(x); i++ {
			product += (float64(x[i]) - mean) * (float64(x[i-lag]) - mean)
		}
		if product <= 0 {
			break
		}
		sum += 2 * product / variance / float64(len(x))
	}
	return time.Duration(sum * float64(m.SliceLength))
}

// steadySlices returns the slices of a measure's window after its warm-up.
func steadySlices(m filewise.Measure) []int64 {
	if m.SliceLength <= 0 {
		return nil
	}
	cut, _ := warmUpCut(m)
	to := min(len(m.Slices), int(m.Window[1]/m.SliceLength))
	return m.Slices[min(int(cut/m.SliceLength), to):to]
}

// moments returns mean and variance. It returns false unless both are above 0.
func moments(x []int64) (mean, variance float64, ok bool) {
	for _, v := range x {
		mean += float64(v) / float64(len(x))
	}
	for _, v := range x {
		variance += (float64(v) - mean) * (float64(v) - mean) / float64(len(x))
	}
	return mean, variance, mean > 0 && variance > 0
}
