package verdict

// Arm is one layout under comparison.
type Arm struct {
	Name string `json:"name"` // as it reads in a sentence: "8 files"
	Rank int    `json:"rank"` // orders "fewest files"; ties: order in the list
	// Twin names the arm that this one is the same as (an A/A check): it is measured to the end and never
	// recommended. Empty means an arm in its own right.
	Twin string `json:"twin,omitempty"`
}

// Cell is the trial of one arm in one block.
type Cell struct {
	// Throughput is work per time, in any unit that is the same for all cells.
	Throughput float64 `json:"throughput"`
	// Instance names the build that the trial ran on. Empty means built again for this trial. The same name in
	// several blocks: a reused build. The same name in two arms: both ran on one and the same build, and what is
	// peculiar to it cancels between them; so names are unique over arms. Copies (CopyOf) count as the build that
	// they are copies of.
	Instance string `json:"instance,omitempty"`
	// Calibration is the result of a short fixed probe right before the trial, in any unit of speed that is the same
	// for all cells; 0 = not collected. When every trial has one, throughput is adjusted for it.
	Calibration float64 `json:"calibration,omitempty"`
	// Order numbers trials in the order in which they ran, from 1; 0 = not known. If every trial has one, carry-over
	// is tested.
	Order int `json:"order,omitempty"`
	// Turns are the turns of a session's trial, as many of each arm. With them it is tested whether what ran before
	// changes the next turn. Nil means they are not known.
	Turns *Turns `json:"turns,omitempty"`
	// OK is false when the trial is missing or failed.
	OK bool `json:"ok"`
}

// Turns are a layout's turns in a session, one after the other.
type Turns struct {
	Work  []float64 `json:"work"`  // in any unit that is the same for all; not above 0: not known
	After []int     `json:"after"` // the arm, from 1, whose turn went before each. 0 means not known
}

// Table holds trials as [block][arm], in the order in which blocks ran, and
// complete blocks only: what is not OK counts as missing. A dropped arm is
// simply missing in later blocks.
type Table [][]Cell

// Reason reports why measuring may stop; empty means go on.
type Reason string

// Reasons to stop.
const (
	ReasonNone         Reason = ""
	ReasonKeepBaseline Reason = "keep_baseline" // no tested arm is more than the margin better
	ReasonRecommend    Reason = "recommend"     // Look.Recommended is proven
	ReasonAllResolved  Reason = "all_resolved"  // GoalVerdicts is reached
	ReasonFutile       Reason = "futile"        // MaxBlocks would not suffice; not binding
	ReasonMaxBlocks    Reason = "budget"        // MaxBlocks are done
)

// Mark is the verdict on one arm against the baseline, in a word or two.
type Mark string

// Marks. "Worse" and "better" appear only if the interval proves it.
const (
	MarkBaseline  Mark = "baseline"
	MarkBest      Mark = "best"          // the recommended arm
	MarkBetter    Mark = "better"        // interval above 0
	MarkWorse     Mark = "worse"         // interval below 0
	MarkWithin    Mark = "within margin" // interval within ± margin
	MarkNotBest   Mark = "not the best"  // some other arm is better; unresolved against the baseline
	MarkUndecided Mark = "undecided"
	MarkNoData    Mark = "no data"   // too few trials for an interval
	MarkAAHolds   Mark = "A/A holds" // a twin of the baseline, and no difference is claimed
	MarkAAFails   Mark = "A/A fails" // one, and a difference is claimed if there is none
)

// Estimate holds one look's estimates for one arm. Effects are on the log scale against the baseline (whose own are 0
// by definition). What is not known is NaN, and null in JSON.
type Estimate struct {
	N int `json:"n"` // trials used
	// Effect is robust, of the typical run. It is estimated again after every block, also of a dropped arm;
	// Result.Shown goes with the frozen limits.
	Effect    float64 `json:"effect"`
	SE        float64 `json:"se"`
	Lo        float64 `json:"lo"` // confidence limits, simultaneous over arms and looks; frozen when dropped
	Hi        float64 `json:"hi"`
	RawEffect float64 `json:"raw_effect"` // plain means of ln over common blocks
	// Regret bounds what is lost by choosing this arm: no tested arm is more
	// than this better. Unknown once the arm is dropped.
	Regret       float64 `json:"regret"`
	Typical      float64 `json:"typical"`       // typical throughput (robust geometric mean) in the input's unit
	Alive        bool    `json:"alive"`         // ran in this block
	Candidate    bool    `json:"candidate"`     // may still be the best
	Resolved     bool    `json:"resolved"`      // interval excludes 0 or lies within ± margin
	DroppedAt    int     `json:"dropped_at"`    // block after which it stopped running; 0 = not dropped
	DownWeighted int     `json:"down_weighted"` // trials pulled in by the robust fit
	Mark         Mark    `json:"mark"`
	Instances    int     `json:"instances"`   // distinct builds its trials ran on
	InstanceSD   float64 `json:"instance_sd"` // between reused builds, log scale, pooled over arms
}

// Look is the state of the judgement after one block.
type Look struct {
	Block     int        `json:"block"`  // blocks so far
	Trials    int        `json:"trials"` // trials used so far
	Estimates []Estimate `json:"estimates"`
	PooledVar float64    `json:"pooled_var"` // robust residual variance of one trial, log scale
	CTwoSided float64    `json:"c_two_sided"`
	COneSided float64    `json:"c_one_sided"`
	Leader    int        `json:"leader"`    // candidate with the highest estimate; -1 = none
	Tolerance float64    `json:"tolerance"` // regret that the leader may have, log scale
	Dropped   []int      `json:"dropped"`   // arms dropped after this look
	Stop      Reason     `json:"stop"`
	// Recommended is the arm to use, -1 = none (yet).
	Recommended int `json:"recommended"`
	// BlocksNeeded forecasts about how many blocks in total would resolve a
	// difference of the margin; 0 = not forecast.
	BlocksNeeded int `json:"blocks_needed,omitempty"`
	// CalibrationSlope is the share of a change in the probe that shows in the throughput, on log scales; unknown
	// when nothing was adjusted.
	CalibrationSlope float64 `json:"calibration_slope"`
	// LargestDifference is the X of "no difference larger than X", log scale.
	LargestDifference float64 `json:"largest_difference"`
	// CarryOver: what ran before a trial changes it, so that no verdict is given.
	CarryOver bool `json:"carry_over,omitempty"`
	// Changed: limits of an earlier look and of this one exclude each other (rules 3), so that an effect has changed
	// during the run, and no verdict is given.
	Changed bool `json:"changed,omitempty"`
	// Stalls are single trials that carry an effect.
	Stalls []Stall `json:"stalls,omitempty"`
	// Slow are the arms with stalled trials, and what these cost (rules 3).
	Slow []Slow `json:"slow,omitempty"`
}

// Warning informs the reader of a verdict about a limit of it, with what to do.
type Warning struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Remedy  string `json:"remedy"`
}

// Result is the judgement of a table: a pure function of its input.
type Result struct {
	Config   Config    `json:"config"`
	Arms     []Arm     `json:"arms"`
	Looks    []Look    `json:"looks"`
	Blocks   int       `json:"blocks"` // blocks in the table
	Trials   int       `json:"trials"` // trials used by the last look, or so far when there is none
	Warnings []Warning `json:"warnings"`
}

// Last returns the latest look; false before FirstLook.
func (r Result) Last() (Look, bool) {
	if len(r.Looks) == 0 {
		return Look{}, false
	}
	return r.Looks[len(r.Looks)-1], true
}

// RecommendedName is the layout to use. Empty means there is none.
func (r Result) RecommendedName() string {
	if look, ok := r.Last(); ok && look.Recommended >= 0 && look.Recommended < len(r.Arms) {
		return r.Arms[look.Recommended].Name
	}
	return ""
}

// Shown returns the estimate to show of an arm at a look. It is the look's estimate, but of a dropped arm the effects
// come from the look at which it was dropped, to which the frozen interval belongs. The arm must be one of the
// look's.
func (r Result) Shown(look Look, arm int) Estimate {
	e := look.Estimates[arm]
	if e.DroppedAt == 0 || e.DroppedAt >= look.Block {
		return e
	}
	for _, l := range r.Looks {
		if l.Block == e.DroppedAt && arm < len(l.Estimates) {
			e.Effect, e.RawEffect = l.Estimates[arm].Effect, l.Estimates[arm].RawEffect
		}
	}
	return e
}

// FirstClaim is the block from which there are intervals.
func (r Result) FirstClaim() int { return r.Config.FirstClaim(len(r.Arms)) }

// FirstClaim is the block from which there are intervals of so many arms.
func (c Config) FirstClaim(arms int) int {
	return rulesOf(c.Rules).FirstClaim(max(c.MaxBlocks, FirstLook), arms)
}

// Decided reports whether measuring may stop; Last().Stop reports why.
func (r Result) Decided() bool {
	look, ok := r.Last()
	return ok && look.Stop != ReasonNone
}

// Live reports which arms run in the next block, if there is one.
func (r Result) Live() []bool {
	live := make([]bool, len(r.Arms))
	look, ok := r.Last()
	for j := range live {
		live[j] = !ok || look.Estimates[j].DroppedAt == 0
	}
	return live
}

// Known reports whether the estimate has an interval.
func (e Estimate) Known() bool { return finite(e.Lo) && finite(e.Hi) }
