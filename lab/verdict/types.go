package verdict

// Arm is one layout under comparison.
type Arm struct {
	Name string `json:"name"` // as it reads in a sentence: "8 files"
	Rank int    `json:"rank"` // orders "fewest files"; ties are in the order of the list
	// Twin names the arm that this arm is identical to (an A/A check). A twin is measured to the end and never
	// recommended. Empty means that the arm is no twin.
	Twin string `json:"twin,omitempty"`
}

// Cell is the trial of one arm in one block.
type Cell struct {
	// Throughput is work per time, in any unit that is the same for all cells.
	Throughput float64 `json:"throughput"`
	// Build names the build that the trial ran on. If empty, the build was for this trial only. If several blocks have
	// the same name, they reused a build. If two arms have the same name, both ran on that build, and its peculiarities
	// cancel; so names must be unique over arms. Copies (CopyOf) count as the build that they were copied from.
	Build string `json:"instance,omitempty"`
	// Calibration is the result of a short fixed probe just before the trial, in any unit of speed that is the same for
	// all cells. 0 means not measured. If every trial has a calibration, throughput is adjusted for it.
	Calibration float64 `json:"calibration,omitempty"`
	// Order numbers the trials in the order in which they ran, from 1. 0 means not known. If every trial has an order,
	// carry-over is tested.
	Order int `json:"order,omitempty"`
	// Turns holds the turns of a trial in an interleaved block, equally many for each arm. They allow a test whether what
	// ran before changes the next turn. Nil means not known.
	Turns *Turns `json:"turns,omitempty"`
	// OK is false if the trial is missing or failed.
	OK bool `json:"ok"`
}

// Turns holds a layout's turns in an interleaved block, one after the other.
type Turns struct {
	Work  []float64 `json:"work"`  // work, in any unit that is the same for all; 0 or less means not known
	After []int     `json:"after"` // arm, from 1, that had the turn before each. 0 means not known
}

// Table holds trials as [block][arm], in the order in which blocks ran. It holds complete blocks only: a cell that is
// not OK counts as missing. A dropped arm is missing in later blocks.
type Table [][]Cell

// Reason is why measuring may stop. Empty means that it goes on.
type Reason string

// Values of Reason.
const (
	ReasonNone         Reason = ""
	ReasonKeepBaseline Reason = "keep_baseline" // no tested arm is better than the baseline by more than the margin
	ReasonRecommend    Reason = "recommend"     // Analysis.Recommended is proven
	ReasonAllResolved  Reason = "all_resolved"  // GoalVerdicts is reached
	ReasonFutile       Reason = "futile"        // the blocks up to MaxBlocks would not suffice; not binding
	ReasonMaxBlocks    Reason = "budget"        // MaxBlocks are done
)

// Mark is the verdict on one arm against the baseline, in a word or two.
type Mark string

// Values of Mark. "Worse" and "better" appear only if the interval proves it.
const (
	MarkBaseline  Mark = "baseline"
	MarkBest      Mark = "best"          // the recommended arm
	MarkBetter    Mark = "better"        // interval above 0
	MarkWorse     Mark = "worse"         // interval below 0
	MarkWithin    Mark = "within margin" // interval within ± margin
	MarkNotBest   Mark = "not the best"  // some other arm is better; unresolved against the baseline
	MarkUndecided Mark = "undecided"
	MarkNoData    Mark = "no data"   // too few trials for an interval
	MarkAAHolds   Mark = "A/A holds" // a twin of the baseline; no difference is claimed
	MarkAAFails   Mark = "A/A fails" // a twin of the baseline; a difference is claimed although there is none
)

// Estimate holds the estimates of one look for one arm. Effects are on the log scale against the baseline, whose own
// effects are 0. Unknown values are NaN, and null in JSON.
type Estimate struct {
	N int `json:"n"` // trials used
	// Effect is a robust estimate for the typical trial. It is updated after every block, even for a dropped arm.
	// Result.Shown returns the effect that belongs to the frozen limits.
	Effect    float64 `json:"effect"`
	SE        float64 `json:"se"`
	Lo        float64 `json:"lo"` // confidence limits, simultaneous over arms and analyses; frozen once the arm is dropped
	Hi        float64 `json:"hi"`
	RawEffect float64 `json:"raw_effect"` // difference of plain means of ln over common blocks
	// WorstLoss bounds the loss from choosing this arm: no tested arm is better by more. It is NaN once the arm is dropped.
	WorstLoss    float64 `json:"regret"`
	Typical      float64 `json:"typical"`       // typical throughput (robust geometric mean) in the input's unit
	Alive        bool    `json:"alive"`         // ran in this block
	Candidate    bool    `json:"candidate"`     // may still be the best
	Resolved     bool    `json:"resolved"`      // interval excludes 0 or lies within ± margin
	DroppedAt    int     `json:"dropped_at"`    // block after which it was dropped; 0 means not dropped
	DownWeighted int     `json:"down_weighted"` // trials pulled in by the robust fit
	Mark         Mark    `json:"mark"`
	Builds       int     `json:"instances"`   // number of distinct builds that its trials ran on
	BuildSD      float64 `json:"instance_sd"` // standard deviation between reused builds, log scale, pooled over arms
}

// Analysis is an interim analysis: the state of a judgement after one block.
type Analysis struct {
	Block     int        `json:"block"`  // blocks so far
	Trials    int        `json:"trials"` // trials used so far
	Estimates []Estimate `json:"estimates"`
	PooledVar float64    `json:"pooled_var"` // robust residual variance of one trial, log scale
	CTwoSided float64    `json:"c_two_sided"`
	COneSided float64    `json:"c_one_sided"`
	Leader    int        `json:"leader"`    // candidate with the highest estimate; −1 means none
	Tolerance float64    `json:"tolerance"` // worst-case loss that the leader may have, log scale
	Dropped   []int      `json:"dropped"`   // arms dropped after this analysis
	Stop      Reason     `json:"stop"`
	// Recommended is the arm to use. −1 means none yet.
	Recommended int `json:"recommended"`
	// BlocksNeeded forecasts about how many blocks in total would resolve a difference of the margin. 0 means no forecast.
	BlocksNeeded int `json:"blocks_needed,omitempty"`
	// BlocksToKeep is the same for the widest margin at which the baseline can still be kept. It is 0 if the plan's margin
	// is as wide, and by earlier rules.
	BlocksToKeep int `json:"blocks_to_keep,omitempty"`
	// CalibrationSlope is the share of a change in calibration that shows in throughput, both on log scales. It is NaN if
	// nothing was adjusted.
	CalibrationSlope float64 `json:"calibration_slope"`
	// LargestDifference is the largest difference from the baseline that any interval allows, log scale: the X of "no
	// difference larger than X". It is NaN if not known.
	LargestDifference float64 `json:"largest_difference"`
	// CarryOver reports that what ran before a trial changes it, so that there is no verdict.
	CarryOver bool `json:"carry_over,omitempty"`
	// Changed reports that limits of an earlier analysis and of this one exclude each other (rules 3). An effect then
	// changed during the run, and there is no verdict.
	Changed bool `json:"changed,omitempty"`
	// Stalls lists single trials that carry an effect.
	Stalls []Stall `json:"stalls,omitempty"`
	// Slow lists the arms with stalled trials, and the cost of these (rules 3).
	Slow []Slow `json:"slow,omitempty"`
}

// Warning informs the reader of a verdict about one of its limits, and what to do.
type Warning struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Remedy  string `json:"remedy"`
}

// Result is the judgement of a table. It is a pure function of its input.
type Result struct {
	Config   Config     `json:"config"`
	Arms     []Arm      `json:"arms"`
	Analyses []Analysis `json:"looks"`
	Blocks   int        `json:"blocks"` // blocks in the table
	Trials   int        `json:"trials"` // trials used by the last analysis, or so far if there is no analysis
	Warnings []Warning  `json:"warnings"`
}

// Last returns the latest analysis. It returns false before FirstAnalysis.
func (r Result) Last() (Analysis, bool) {
	if len(r.Analyses) == 0 {
		return Analysis{}, false
	}
	return r.Analyses[len(r.Analyses)-1], true
}

// RecommendedName returns the layout to use, or "" if there is none.
func (r Result) RecommendedName() string {
	if analysis, ok := r.Last(); ok && analysis.Recommended >= 0 && analysis.Recommended < len(r.Arms) {
		return r.Arms[analysis.Recommended].Name
	}
	return ""
}

// Shown returns the estimate of an arm to show at an analysis. For a dropped arm, the effects come from the analysis at
// which it was dropped, because the frozen interval belongs to them. The arm must be one of the analysis's.
func (r Result) Shown(analysis Analysis, arm int) Estimate {
	e := analysis.Estimates[arm]
	if e.DroppedAt == 0 || e.DroppedAt >= analysis.Block {
		return e
	}
	for _, l := range r.Analyses {
		if l.Block == e.DroppedAt && arm < len(l.Estimates) {
			e.Effect, e.RawEffect = l.Estimates[arm].Effect, l.Estimates[arm].RawEffect
		}
	}
	return e
}

// FirstClaim returns the first block with intervals.
func (r Result) FirstClaim() int { return r.Config.FirstClaim(len(r.Arms)) }

// FirstClaim returns the first block with intervals for that many arms.
func (c Config) FirstClaim(arms int) int {
	return rulesOf(c.Rules).FirstClaim(max(c.MaxBlocks, FirstAnalysis), arms)
}

// Decided reports whether measuring may stop. Last().Stop is the reason.
func (r Result) Decided() bool {
	analysis, ok := r.Last()
	return ok && analysis.Stop != ReasonNone
}

// Live returns for each arm whether it runs in the next block, if there is one.
func (r Result) Live() []bool {
	live := make([]bool, len(r.Arms))
	analysis, ok := r.Last()
	for j := range live {
		live[j] = !ok || analysis.Estimates[j].DroppedAt == 0
	}
	return live
}

// Known reports whether the estimate has an interval.
func (e Estimate) Known() bool { return finite(e.Lo) && finite(e.Hi) }
