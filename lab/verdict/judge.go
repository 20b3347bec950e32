package verdict

import (
	"math"
	"reflect"
	"slices"
)

// Blocks from which the forecast and the futility rule are useful.
const (
	forecastFrom = 4
	futilityFrom = 6
)

// Judge replays every analysis from block 3 to the last, or to the analysis that decides the experiment. It uses only the
// trials that the sequential design would have run. It ignores trials of an arm after that was dropped, blocks after
// the decision and blocks beyond cfg.MaxBlocks, with a warning. A stop for futility is not binding: if there are more
// blocks, the replay goes on.
//
// Errors wrap ErrConfig or ErrTable.
func Judge(cfg Config, arms []Arm, t Table) (Result, error) { return new(Series).Judge(cfg, arms, t) }

// Series judges a table that grows by blocks, and makes each analysis once. Its zero value is ready. It is not for
// concurrent use.
type Series struct{ replay *replay }

// Judge returns what the function Judge returns. If the table only grew since the last call, analyses are added to the
// earlier ones. The table's rows must not change afterwards.
func (s *Series) Judge(cfg Config, arms []Arm, t Table) (Result, error) {
	if err := cfg.check(len(arms)); err != nil {
		return Result{}, err
	}
	if err := cfg.checkTwins(arms); err != nil {
		return Result{}, err
	}
	if err := t.check(len(arms)); err != nil {
		return Result{}, err
	}
	bounds, err := cfg.boundaries(len(arms))
	if err != nil {
		return Result{}, err
	}
	if s.replay != nil && s.replay.continues(cfg, arms, t) {
		s.replay.extend(t)
	} else {
		s.replay = newReplay(cfg, arms, t, bounds)
	}
	return s.replay.run(), nil
}

// replay is the state that each analysis passes to the next.
type replay struct {
	cfg       Config
	arms      []Arm
	table     Table
	bounds    Boundaries
	log       [][]float64
	droppedAt []int      // block after which the arm was dropped; 0 means running
	candidate []bool     // may still be the best
	frozen    []Estimate // estimates of dropped arms when dropped; their intervals stay
	carries   []carry    // carry-over between each block's turns, from rules 3 on
	held      []limits   // tightest limits of each arm so far, from rules 3 on
	analyses  []Analysis // so far
}

func newReplay(cfg Config, arms []Arm, t Table, bounds Boundaries) *replay {
	r := &replay{
		cfg: cfg, arms: slices.Clone(arms), bounds: bounds,
		droppedAt: make([]int, len(arms)),
		candidate: make([]bool, len(arms)),
		frozen:    make([]Estimate, len(arms)),
	}
	for j, arm := range arms {
		r.candidate[j] = arm.Twin == ""
		r.held = append(r.held, unlimited)
	}
	r.extend(t)
	return r
}

// continues reports whether the replay so far is also one of this table's first blocks.
func (r *replay) continues(cfg Config, arms []Arm, t Table) bool {
	return reflect.DeepEqual(cfg, r.cfg) && slices.Equal(arms, r.arms) && len(t) >= len(r.table) &&
		reflect.DeepEqual(t[:len(r.table)], r.table)
}

// extend takes the table's further blocks.
func (r *replay) extend(t Table) {
	have := len(r.table)
	logs := newRows(len(t)-have, len(r.arms))
	for b := have; b < len(t); b++ {
		for j, cell := range t[b] {
			if cell.OK {
				logs[b-have][j] = math.Log(cell.Throughput)
			}
		}
		r.log = append(r.log, logs[b-have])
		if r.cfg.Rules > 2 {
			r.carries = append(r.carries, carryOfBlock(t[b]))
		}
	}
	r.table = t
}

// running returns for each arm whether it is still in the running.
func (r *replay) running() []bool {
	out := make([]bool, len(r.arms))
	for j := range out {
		out[j] = r.droppedAt[j] == 0
	}
	return out
}

// analysed returns the block of the last analysis, or 0.
func (r *replay) analysed() int {
	if len(r.analyses) == 0 {
		return 0
	}
	return r.analyses[len(r.analyses)-1].Block
}

// stopped reports whether the last analysis ended the experiment.
func (r *replay) stopped() bool {
	return len(r.analyses) > 0 && !slices.Contains([]Reason{ReasonNone, ReasonFutile}, r.analyses[len(r.analyses)-1].Stop)
}

func (r *replay) run() Result {
	blocks := min(len(r.table), r.cfg.MaxBlocks)
	for n := max(FirstAnalysis, r.analysed()+1); n <= blocks && !r.stopped(); n++ {
		r.analyses = append(r.analyses, r.analyse(n))
	}
	result := Result{
		Config: r.cfg, Arms: slices.Clone(r.arms), Analyses: append([]Analysis{}, r.analyses...), Blocks: len(r.table), Warnings: []Warning{},
	}
	g := r.grid(blocks)
	if analysis, ok := result.Last(); ok {
		g = r.grid(analysis.Block)
	}
	result.Trials = g.cells()
	result.Warnings = append(result.Warnings, r.warnings(result, g)...)
	return result
}

// grid returns the grid of the first n blocks, without trials of arms after they were dropped.
func (r *replay) grid(n int) grid {
	g := grid{y: r.log[:n], mask: make([][]bool, n), width: len(r.arms), base: r.cfg.Baseline}
	for b := range n {
		g.mask[b] = make([]bool, len(r.arms))
		for j, cell := range r.table[b] {
			g.mask[b][j] = cell.OK && (r.droppedAt[j] == 0 || b < r.droppedAt[j])
		}
	}
	return g
}

func (g grid) cells() int {
	n := 0
	each(g, func(_, _ int) { n++ })
	return n
}

// analyse judges the first n blocks, then drops arms for the next block.
func (r *replay) analyse(n int) Analysis {
	s := r.scene(n)
	analysis := Analysis{Block: n, Trials: s.cells(), Dropped: []int{}, PooledVar: math.NaN()}
	analysis.CalibrationSlope = s.probe.slope
	analysis.CTwoSided, analysis.COneSided = r.bounds.at(n)
	if s.fitted {
		analysis.PooledVar = s.fit.pooled * s.probe.scale
	}
	analysis.Estimates = s.estimates()
	if r.cfg.Rules > 2 {
		analysis.Changed, analysis.Slow = s.hold(analysis.Estimates), s.slow()
	}
	if r.cfg.Rules > 1 && s.fitted {
		analysis.CarryOver, analysis.Stalls = r.bounds.claimsAt(n) && s.carriesOver(), s.stalls()
	}
	analysis.Leader = s.leader(analysis.Estimates)
	analysis.Tolerance = s.tolerance(analysis)
	analysis.Recommended = s.proven(analysis)
	analysis.Stop = s.stop(analysis)
	analysis.LargestDifference = s.largestDifference(analysis.Estimates)
	if n >= forecastFrom && (analysis.Stop == ReasonNone || analysis.Stop == ReasonFutile || analysis.Stop == ReasonMaxBlocks) {
		analysis.BlocksNeeded = s.forecast(r.cfg.Margin)
		if r.cfg.Rules > 2 && r.cfg.Margin < widestKeep {
			analysis.BlocksToKeep = s.forecast(widestKeep)
		}
	}
	if analysis.Stop == ReasonNone || analysis.Stop == ReasonFutile {
		analysis.Dropped = s.drop(analysis.Estimates)
	}
	for j := range analysis.Estimates {
		analysis.Estimates[j].DroppedAt = r.droppedAt[j]
		analysis.Estimates[j].Candidate = r.candidate[j]
		analysis.Estimates[j].Mark = r.mark(analysis, j)
	}
	if r.cfg.Rules > 2 && !analysis.Changed {
		atLimits(analysis.Estimates)
	}
	return analysis
}
