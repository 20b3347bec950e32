package verdict

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// FirstLook is the block after which the first look is taken, and the fewest that a plan may have: with fewer the
// boundaries are too wide to be of use. Rules 2 only drop layouts then; Result.FirstClaim is the first block with
// intervals.
const FirstLook = 3

// NewestRules apply unless others are chosen.
const NewestRules = 3

// RaceRules judge races of backup settings: those drop settings from block 3 on, long before the
// first claim of rules 3, since each trial is a whole backup of the user's database.
const RaceRules = 2

// Errors that Judge and BoundariesFor wrap.
var (
	ErrConfig = errors.New("verdict: invalid configuration")
	ErrTable  = errors.New("verdict: invalid table")
)

// Goal is the aim at which there are enough blocks.
type Goal string

// Goals: until an arm can be recommended, until it is one that no other is more than the
// margin better than, or until every arm is resolved.
const (
	GoalRecommend Goal = "recommend"
	GoalBest      Goal = "best"
	GoalVerdicts  Goal = "verdicts"
)

// Config is fixed before the first trial.
type Config struct {
	// Rules are the ones judged by: 3, or 2 or 1 as of runs that were stored before there
	// were others. Rules 1 take all arms to be about equally noisy; rules 2 recommend arms
	// that are within the margin of being faster.
	Rules      int     `json:"rules"`
	Margin     float64 `json:"margin"`     // δ on the log scale: smaller differences do not matter
	Confidence float64 `json:"confidence"` // over all arms and looks together
	Gamma      float64 `json:"gamma"`      // share of the leader's proven gain that may be left on the table
	Kappa      float64 `json:"kappa"`      // futility: how many standard errors of luck are granted
	MaxBlocks  int     `json:"max_blocks"` // no blocks beyond it
	// Extended are the plans that the experiment had before MaxBlocks, oldest first (from rules 3
	// on): what was spent of the error up to an extension stays spent.
	Extended []Extension `json:"extended,omitempty"`
	Goal     Goal        `json:"goal"`
	Baseline int         `json:"baseline"` // index of the arm that others are compared with
	// Known holds boundaries that were computed before, of any designs. Boundaries that are not in it are computed.
	Known []Design `json:"-"`
}

// Extension is an experiment's plan up to the block after which it was extended.
type Extension struct {
	After     int `json:"after"`
	MaxBlocks int `json:"max_blocks"` // until then; at least After
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

// Percent translates an effect on the log scale: 100(eˣ−1).
func Percent(logEffect float64) float64 { return 100 * math.Expm1(logEffect) }

// left returns the regret that a recommendation may have if so much is proven to be gained: the margin, or a share of
// that.
func (c Config) left(proven float64) float64 {
	if c.Goal == GoalBest || !finite(proven) {
		return c.Margin
	}
	return max(c.Margin, c.Gamma*proven)
}

// check returns an error wrapping ErrConfig when c cannot be used for arms.
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
	case c.MaxBlocks < FirstLook:
		return bad("at most %d blocks: the first look is possible after block %d", c.MaxBlocks, FirstLook)
	case len(c.Extended) > 0 && c.Rules < 3:
		return bad("rules %d spend all of the error in the blocks that were planned first: an experiment cannot be extended", c.Rules)
	case !c.ascends():
		return bad("extensions %v to %d blocks: each must begin after the one before, and within its blocks", c.Extended, c.MaxBlocks)
	case c.Goal != GoalRecommend && c.Goal != GoalBest && c.Goal != GoalVerdicts:
		return bad("goal %q: must be %q, %q or %q", c.Goal, GoalRecommend, GoalBest, GoalVerdicts)
	}
	return nil
}

// ascends reports whether each extension lies within the blocks that were planned before it.
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

// checkTwins returns an error wrapping ErrConfig when an arm is the twin of none,
// or the baseline is one.
func (c Config) checkTwins(arms []Arm) error {
	for j, arm := range arms {
		known := slices.ContainsFunc(arms, func(a Arm) bool { return a.Name == arm.Twin && a.Twin == "" })
		switch {
		case arm.Twin == "":
		case j == c.Baseline:
			return fmt.Errorf("%w: the baseline %q is a twin of %q", ErrConfig, arm.Name, arm.Twin)
		case !known:
			return fmt.Errorf("%w: %q is a twin of %q, which is no arm of its own", ErrConfig, arm.Name, arm.Twin)
		}
	}
	return nil
}

// check returns an error wrapping ErrTable when a cell cannot be used.
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
