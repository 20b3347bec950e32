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

// Extension holds the plan's number of blocks and budget before its run was extended, and the block after which that
// was.
type Extension struct {
	verdict.Extension
	Budget time.Duration `json:"budget_ns"` // before the extension. 0 means none
}

// extendedFrom is the first version of the rules by which experiments can be extended.
const extendedFrom = 3

// Extend returns the plan with a larger budget. The budget is for the whole run, including its pilots and the trials
// done. The error already spent stays spent, and the first budget still sets the turns and rounds of interleaved
// blocks. Errors have code usage.
func (p Plan) Extend(budget time.Duration, done []filewise.Trial) (Plan, error) {
	s := p.standing(done)
	refuse := func(remedy, format string, args ...any) (Plan, error) {
		return p, filewise.Errorf(filewise.CodeUsage, remedy, "cannot extend the run (--budget): "+format, args...)
	}
	switch {
	case s.err != nil:
		return p, s.err
	case p.AsPublished != nil:
		return refuse("leave --budget out", "the article's design determines the end")
	case p.JudgedBy() < extendedFrom:
		return refuse("start a new run with that budget", "rules %d spend all of the error in the blocks that were planned first", p.JudgedBy())
	case budget <= p.Budget:
		return refuse("give more: it is the time of the whole run", "its budget is %s already", say.Human(p.Budget))
	case budget <= s.elapsed:
		return refuse("give more: it is the time of the whole run", "its trials took %s", say.Human(s.elapsed.Round(time.Second)))
	}
	blocks, was := s.results[0].Blocks, s.schedule.MaxBlocks
	p.Budget = budget
	if blocks == 0 { // no verdict yet, so no error is spent
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

// asOption formats a duration as an option value, rounded up.
func asOption(d time.Duration) string {
	if d > 2*time.Minute {
		return fmt.Sprintf("%.0fm", math.Ceil(d.Minutes()))
	}
	return fmt.Sprintf("%.0fs", math.Ceil(d.Seconds()))
}

// firstBudget returns the budget that fixed the rounds of interleaved blocks.
func (p Plan) firstBudget() time.Duration {
	if len(p.Extended) > 0 {
		return p.Extended[0].Budget
	}
	return p.Budget
}

// earlier returns the plan's extensions in the form that a verdict takes.
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
