package experiment

import (
	"math"
	"time"

	"filewise"
	"filewise/lab/verdict"
)

// The lengths of sessions that pilots fix. A layout's turn is just long enough for most of a round to be measured,
// and to hold several stretches in which the throughput stays like itself: beyond that, longer turns only let the
// machine drift further between layouts. A session has the rounds that make most of it measured, and no more, for
// sessions count: each is one observation.
const (
	// MinTurn is the shortest turn of a layout in a session: below it, coming to rest
	// and starting again is most of what a turn does.
	MinTurn = 200 * time.Millisecond
	// maxTurn is the longest that pilots choose, unless what goes around a turn takes longer:
	// the window is at least half of it.
	maxTurn = 2 * time.Second
	// leadShare of a turn goes before it unmeasured, so that new connections and the
	// state after coming to rest are no part of it.
	leadShare = 10
	// aroundShare: a turn takes this many times what goes around it.
	aroundShare = 4
	// correlationShare: and so many times its slices' autocorrelation time.
	correlationShare = 4
	// measuringShare of a session is to be measured.
	measuringShare = 0.72
	// usualSessions are kept within the budget before any is lengthened for that share: of
	// few, an interval is mostly made of not knowing their spread.
	usualSessions = 6
	// usualRounds are the fewest if there is time: turns cancel what changes between them.
	usualRounds  = 4
	fewestRounds = 2 // if bounds are set: more sessions may resolve more
	maxRounds    = 200
	// pilotTime bounds the pilot of a trial of fixed work, which does a part after the
	// other of so many at most.
	pilotTime  = 2 * time.Second
	pilotParts = 256
)

// turn is the work in a turn of a session: its part of fixed work, or as much as fits.
type turn struct {
	length, lead time.Duration // measured, and before it. 0 means as long as the phases' work takes
	part, of     int           // of fixed work
}

// partOf is the part of the operations of each connection, in whole transactions.
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

// transactions counts each connection's transactions in fixed work; at least one.
func (p Plan) transactions() int64 {
	return max(p.Work/max(int64(p.Params.RowBytes)*int64(p.Params.Connections)*int64(p.Params.CommitEvery), 1), 1)
}

// pilotParts are the parts of fixed work of which a pilot does the first.
func (p Plan) pilotParts() int { return int(min(p.transactions(), pilotParts)) }

// lead returns the load before each turn, in whole slices.
func (p Plan) lead(s Schedule) time.Duration {
	d := min(s.WarmUp, s.Turn/leadShare)
	if p.SliceLength > 0 {
		d -= d % p.SliceLength
	}
	return d
}

// costs are the costs of a layout's part in a session by the pilots, on average.
type costs struct {
	once     time.Duration // build, load, settle, observe, check
	measured time.Duration // of a turn as long as its work takes, or of all fixed work
	around   time.Duration // each turn: connections, caches, until all is durable
	drain    time.Duration // of that, what is judged: the drain of work from rest to rest
	stays    time.Duration // the longest in which a layout's throughput stays like itself
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
	around := stageTime(t, filewise.StageMeasure) - measured + stageTime(t, filewise.StageWarmUp) + stageTime(t, filewise.StageDrain)
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

// takeTurns fixes the turns of sessions, and how many sessions the budget allows.
func (h history) takeTurns(s Schedule) Schedule {
	p, c := h.plan, h.costs()
	if c.pilots == 0 {
		return s
	}
	whole := p.Window // what a layout measures in a session at least
	switch {
	case p.Window > 0:
		s.Turn = p.turnOf(c)
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
		return budgetShare * float64(budget-h.pilotTime()-h.furtherBuilds(p.Instances)) / layouts
	}
	if p.Cells > 0 {
		s.Rounds = p.Cells
	} else if p.WindowByPilots && p.Work == 0 {
		if p.Bounds > 0 && p.firstBudget() > 0 && len(p.Layouts) > 1 {
			s.Rounds = h.narrowing(max(s.Rounds, fewestRounds), s, c, left(p.firstBudget()))
		} else {
			s.Rounds = c.rounds(max(s.Rounds, usualRounds), left(p.firstBudget()), p.leastSessions())
		}
	}
	s.TrialTime = c.session(s.Rounds)
	if p.Budget > 0 {
		n := int(left(p.Budget) / float64(s.TrialTime))
		s.MaxBlocks = min(p.MaxBlocks, max(n, verdict.FirstLook))
		s.ByBudget = s.MaxBlocks < p.MaxBlocks
	}
	return s
}

// leastSessions is the number that a budget has time for whatever their length: as many as an interval needs, and one
// more, for trials take longer than pilots predict.
func (p Plan) leastSessions() int {
	return min(max(usualSessions, p.FirstClaim()+1), max(p.MaxBlocks, 1))
}

// inQuestion are the layouts whose pilots are done or still to come.
func (h history) inQuestion() int {
	n := 0
	for i, l := range h.plan.Layouts {
		if h.open(0, i) || h.tries[cellKey{0, l.Name}].done != nil {
			n++
		}
	}
	return max(n, 1)
}

// turnOf is the measured time of a turn, in whole slices, and of several that make up a
// window that was given.
func (p Plan) turnOf(c costs) time.Duration {
	if p.Cells > 0 {
		return p.Window / time.Duration(p.Cells)
	}
	around := c.around / time.Duration(c.windows)
	t := min(max(MinTurn, aroundShare*around, correlationShare*c.stays), max(maxTurn, around))
	if !p.WindowByPilots {
		return p.Window / max(p.Window/min(t, p.Window), min(2, max(p.Window/MinTurn, 1)))
	}
	if p.SliceLength > 0 {
		t = (t + p.SliceLength - 1) / p.SliceLength * p.SliceLength
	}
	return t
}

// roundsOf are the turns into which fixed work is cut; each has something to commit for
// every connection.
func (p Plan) roundsOf(c costs) int {
	t := min(max(MinTurn, aroundShare*c.around), max(maxTurn, c.around))
	return int(min(max(c.measured/t, 2), maxRounds, time.Duration(p.transactions())))
}

// session returns the time of a layout's part in one of so many rounds.
func (c costs) session(rounds int) time.Duration {
	return c.once + time.Duration(rounds)*(c.measured+c.around)
}

// rounds are as many as it takes for the measuring share, and no fewer than the least; at least one. They fit the
// budget's part of a layout, in nanoseconds, for so many sessions.
func (c costs) rounds(least int, left float64, sessions int) int {
	gain := float64(c.measured+c.drain) - measuringShare*float64(c.measured+c.around)
	want := least
	if gain > 0 {
		want = max(least, int(min(math.Ceil(measuringShare*float64(c.once)/gain), maxRounds)))
	}
	if left > 0 {
		want = min(want, int((left/float64(sessions)-float64(c.once))/float64(c.measured+c.around)))
	}
	return max(want, 1)
}

// correlationTime returns the time for which a measure's throughput stays like itself: the integrated autocorrelation
// time of its slices (Sokal 1997: 1 + 2 Σ ρ, summed as far as ρ is positive, over a quarter of the slices at most).
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

// moments are mean and variance. False means there are none above 0.
func moments(x []int64) (mean, variance float64, ok bool) {
	for _, v := range x {
		mean += float64(v) / float64(len(x))
	}
	for _, v := range x {
		variance += (float64(v) - mean) * (float64(v) - mean) / float64(len(x))
	}
	return mean, variance, mean > 0 && variance > 0
}
