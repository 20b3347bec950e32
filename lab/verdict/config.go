package verdict

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// FirstAnalysis is the block after which the first analysis is taken, and the fewest blocks of a plan. With fewer, boundaries
// are too wide to be useful. At that analysis, rules 2 can only drop layouts. Result.FirstClaim returns the first block
// with intervals.
const FirstAnalysis = 3

// NewestRules is the version of the rules that applies by default.
const NewestRules = 3

// RaceRules is the version of the rules that judges races of backup settings. It drops settings from block 3 on, long
// before the first claim of rules 3. That matters because each trial is a whole backup of the user's database.
const RaceRules = 2

// Errors that Judge and BoundariesFor wrap.
var (
	ErrConfig = errors.New("verdict: invalid configuration")
	ErrTable  = errors.New("verdict: invalid table")
)

// Goal is the result at which an experiment has enough blocks.
type Goal string

// Values of Goal: an arm can be recommended; an arm can be recommended that no other beats by more than the margin; or
// every arm is resolved.
const (
	GoalRecommend Goal = "recommend"
	GoalBest      Goal = "best"
	GoalVerdicts  Goal = "verdicts"
)

// Config holds the rules and limits of a judgement. It is fixed before the first trial.
type Config struct {
	// Rules is the version of the rules: 3, or 2 or 1 for runs stored before there were later ones. Rules 1 assume that
	// all arms are about equally noisy. Rules 2 also recommend arms whose interval reaches below 0, within the margin.
	Rules      int     `json:"rules"`
	Margin     float64 `json:"margin"`     // δ on the log scale: smaller differences do not matter
	Confidence float64 `json:"confidence"` // over all arms and analyses together
	Gamma      float64 `json:"gamma"`      // share of the leader's proven gain that a recommendation may forgo
	Kappa      float64 `json:"kappa"`      // futility: standard errors of luck that are allowed for
	MaxBlocks  int     `json:"max_blocks"` // largest number of blocks
	// Extended lists the earlier plans of an extended experiment, oldest first (from rules 3 on). The error spent before
	// an extension stays spent.
	Extended []Extension `json:"extended,omitempty"`
	Goal     Goal        `json:"goal"`
	Baseline int         `json:"baseline"` // index of the arm that others are compared with
	// Known holds boundaries that were computed before, of any designs. Others are computed when needed.
	Known []Design `json:"-"`
}

// Extension is the plan of an experiment until the block after which it was extended.
type Extension struct {
	After     int `json:"after"`
	MaxBlocks int `json:"max_blocks"` // before the extension; at least After
}

// DefaultConfig returns the design of docs/statistics-rules.md: 2 %, 95 %, 20 blocks.
func DefaultConfig() Config {
	return Config{
		Rules:      NewestRules,
		Margin:     math.Log(1.02),
		Confidence: 0.95,
		Gamma:      0.25,
		Kappa:      1.5,
		MaxBlocks:  20,
		Goal:       GoalRecommend,
	}
}

// Percent converts an effect on the log scale into percent: 100(eˣ−1).
func Percent(logEffect float64) float64 { return 100 * math.Expm1(logEffect) }

// left returns the worst-case loss that a recommendation may have: the margin, or Gamma's share of the proven gain if that is
// more.
func (c Config) left(proven float64) float64 {
	if c.Goal == GoalBest || !finite(proven) {
		return c.Margin
	}
	return max(c.Margin, c.Gamma*proven)
}

// check returns an error wrapping ErrConfig if c cannot be used for that many arms.
func (c Config) check(arms int) error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: "+format, append([]any{ErrConfig}, args...)...)
	}
	switch {
	case c.Rules < 1 || c.Rules > NewestRules:
		return bad("rules %d: must be 1 to %d", c.Rules, NewestRules)
	case arms < 2:
		return bad("%d arms: a comparison needs two", arms)
	case c.Baseline < 0 || c.Baseline >= arms:
		return bad("baseline %d of %d arms", c.Baseline, arms)
	case !(c.Margin > 0) || math.IsInf(c.Margin, 0):
		return bad("margin %v: must be above 0", c.Margin)
	case !(c.Confidence > 0 && c.Confidence < 1):
		return bad("confidence %v: must be between 0 and 1", c.Confidence)
	case !(c.Gamma >= 0 && c.Gamma < 1):
		return bad("gamma %v: must be in [0, 1)", c.Gamma)
	case !(c.Kappa >= 0) || math.IsInf(c.Kappa, 0):
		return bad("kappa %v: must not be negative", c.Kappa)
	case c.MaxBlocks < FirstAnalysis:
		return bad("at most %d blocks: the first interim analysis is possible after block %d", c.MaxBlocks, FirstAnalysis)
	case len(c.Extended) > 0 && c.Rules < 3:
		return bad("rules %d spend all of the error in the blocks that were planned first: an experiment cannot be extended", c.Rules)
	case !c.ascends():
		return bad("extensions %v to %d blocks: each must begin after the one before, and within its blocks", c.Extended, c.MaxBlocks)
	case c.Goal != GoalRecommend && c.Goal != GoalBest && c.Goal != GoalVerdicts:
		return bad("goal %q: must be %q, %q or %q", c.Goal, GoalRecommend, GoalBest, GoalVerdicts)
	}
	return nil
}

// ascends reports whether each extension lies within the blocks planned before it.
func (c Config) ascends() bool {
	after := 0
	for _, e := range c.Extended {
		if e.After < after || e.After > e.MaxBlocks || e.MaxBlocks <= after || e.After >= c.MaxBlocks {
			return false
		}
		after = e.After
	}
	return true
}

// checkTwins returns an error wrapping ErrConfig if an arm's original is missing, or if the baseline is a twin.
func (c Config) checkTwins(arms []Arm) error {
	for j, arm := range arms {
		known := slices.ContainsFunc(arms, func(a Arm) bool { return a.Name == arm.Twin && a.Twin == "" })
		switch {
		case arm.Twin == "":
		case j == c.Baseline:
			return fmt.Errorf("%w: the baseline %q is a twin of %q", ErrConfig, arm.Name, arm.Twin)
		case !known:
			return fmt.Errorf("%w: %q is a twin of %q, which is missing or itself a twin", ErrConfig, arm.Name, arm.Twin)
		}
	}
	return nil
}

// check returns an error wrapping ErrTable if a row or a cell cannot be used.
func (t Table) check(arms int) error {
	for b, row := range t {
		if len(row) != arms {
			return fmt.Errorf("%w: block %d has %d cells for %d arms", ErrTable, b+1, len(row), arms)
		}
		for j, cell := range row {
			if cell.OK && !(cell.Throughput > 0 && finite(cell.Throughput)) {
				return fmt.Errorf("%w: block %d, arm %d: throughput %v is not a positive number",
					ErrTable, b+1, j, cell.Throughput)
			}
		}
	}
	return nil
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
