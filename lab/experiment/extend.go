package experiment

import (
	"fmt"
	"math"
	"slices"
	"time"

	"filewise"
	"filewise/internal/say"
	"filewise/lab/verdict"
)

// Extension is the plan up to the block after which its run was extended.
type Extension struct {
	verdict.Extension
	Budget time.Duration `json:"budget_ns"` // until then. 0 means none
}

// extendedFrom are the rules from which on experiments can be extended.
const extendedFrom = 3

// Extend is the plan with a larger budget for all of the run, its pilots included, after some trials. What was spent
// of the error stays spent; turns and rounds of sessions stay as the first budget set them. Errors have code usage.
func (p Plan) Extend(budget time.Duration, done []filewise.Trial) (Plan, error) {
	s := p.standing(done)
	refuse := func(remedy, format string, args ...any) (Plan, error) {
		return p, filewise.Errorf(filewise.CodeUsage, remedy, "cannot extend the run (--budget): "+format, args...)
	}
	switch {
	case s.err != nil:
		return p, s.err
	case p.AsPublished != nil:
		return refuse("leave --budget out", "an article's design has its own end")
	case p.JudgedBy() < extendedFrom:
		return refuse("start a new run with that budget", "rules %d spend all of the error in the blocks that were planned first", p.JudgedBy())
	case budget <= p.Budget:
		return refuse("give more: it is the time of the whole run", "its budget is %s already", say.Human(p.Budget))
	case budget <= s.elapsed:
		return refuse("give more: it is the time of the whole run", "its trials took %s", say.Human(s.elapsed.Round(time.Second)))
	}
	blocks, was := s.results[0].Blocks, s.schedule.MaxBlocks
	p.Budget = budget
	if blocks == 0 { // nothing was judged, so nothing was spent
		return p, nil
	}
	p.Extended = append(slices.Clone(p.Extended), Extension{
		verdict.Extension{After: blocks, MaxBlocks: max(was, blocks)}, s.plan.Budget})
	planned := p.MaxBlocks
	p.MaxBlocks = verdict.MostBlocks(p.JudgedBy())
	more := p.read(done).schedule().MaxBlocks
	if more <= blocks {
		block := time.Duration(s.inQuestion()) * s.schedule.TrialTime
		return refuse("give --budget "+asOption(s.elapsed+block+block/5)+" or more",
			"%s do not suffice for one more block than the %d that are measured", say.Human(budget), blocks)
	}
	p.MaxBlocks = max(planned, more)
	return p, nil
}

// asOption is a time as an option takes it, rounded up.
func asOption(d time.Duration) string {
	if d > 2*time.Minute {
		return fmt.Sprintf("%.0fm", math.Ceil(d.Minutes()))
	}
	return fmt.Sprintf("%.0fs", math.Ceil(d.Seconds()))
}

// firstBudget is the budget that fixed the rounds of sessions.
func (p Plan) firstBudget() time.Duration {
	if len(p.Extended) > 0 {
		return p.Extended[0].Budget
	}
	return p.Budget
}

// earlier are the plan's extensions as a verdict takes them.
func (p Plan) earlier() []verdict.Extension {
	var out []verdict.Extension
	if p.JudgedBy() < extendedFrom {
		return nil
	}
	for _, e := range p.Extended {
		out = append(out, e.Extension)
	}
	return out
}
