package experiment

import (
	"fmt"
	"math/rand/v2"
	"time"

	"filewise"
	"filewise/verdict"
)

// Next decides what is measured next. It is a pure function: there is no clock
// in it (elapsed time is in the trials), and the order of block b follows from
// the seed, b, and the layouts still in question.
func (p Plan) Next(done []filewise.Trial) (filewise.Cell, Decision) {
	h := p.read(done)
	if cell, more := h.nextPilot(); more {
		return cell, Decision{}
	}
	if why := h.broken(); why != "" {
		return filewise.Cell{}, Decision{Ending: Broken, Why: why}
	}
	sched := h.schedule()
	r, open, err := h.replay(sched)
	switch {
	case err != nil:
		return filewise.Cell{}, Decision{Ending: Broken, Why: err.Error()}
	case open != nil:
		return *open, Decision{}
	}
	next := order(p.Seed, r.Blocks+1, h.live(r, r.Blocks+1))
	if d := p.ending(h, sched, r, len(next)); d.Ending != GoesOn {
		return filewise.Cell{}, d
	}
	cell, _ := h.cell(r.Blocks+1, next)
	return cell, Decision{}
}

// order is the random order of block b over the live layouts.
func order(seed uint64, b int, live []int) []int {
	out := append([]int(nil), live...)
	r := rand.New(rand.NewPCG(seed, uint64(b)))
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// ending says whether the complete blocks are enough, or time is up; live is
// the number of layouts in the next block.
func (p Plan) ending(h history, s Schedule, r verdict.Result, live int) Decision {
	if look, ok := r.Last(); ok {
		switch look.Stop {
		case verdict.ReasonKeepBaseline, verdict.ReasonRecommend:
			return Decision{Ending: Decided, Why: fmt.Sprintf("decided after %d blocks", look.Block)}
		case verdict.ReasonAllResolved:
			return Decision{Ending: Decided, Why: fmt.Sprintf("every layout is resolved after %d blocks", look.Block)}
		case verdict.ReasonFutile:
			return Decision{Ending: Futile, Why: fmt.Sprintf("stopped after %d blocks: the %d planned could not decide it", look.Block, s.MaxBlocks)}
		case verdict.ReasonMaxBlocks:
			return Decision{Ending: Spent, Why: fmt.Sprintf("all %d planned blocks are measured", s.MaxBlocks)}
		}
	}
	next := time.Duration(live) * s.TrialTime
	if p.Budget > 0 && h.elapsed+next > p.Budget+p.Budget/10 {
		why := fmt.Sprintf("the budget of %v is spent after %d blocks", p.Budget, r.Blocks)
		if r.Blocks < verdict.FirstLook {
			need := h.elapsed + next*time.Duration(verdict.FirstLook-r.Blocks)
			why += fmt.Sprintf("; a verdict needs %d blocks, here about %v", verdict.FirstLook, need.Round(time.Second))
		}
		return Decision{Ending: Spent, Why: why}
	}
	return Decision{}
}

// judgeTable judges complete blocks by the plan's rules.
func (p Plan) judgeTable(s Schedule, table verdict.Table) (verdict.Result, error) {
	cfg := verdict.DefaultConfig()
	cfg.Margin = marginLog(p.Margin)
	cfg.Confidence = p.Confidence
	cfg.Goal = p.Goal
	cfg.MaxBlocks = max(s.MaxBlocks, len(table))
	arms := make([]verdict.Arm, len(p.Layouts))
	for i, l := range p.Layouts {
		arms[i] = verdict.Arm{Name: l.Name, Rank: l.Rank}
		if l.Name == p.Baseline {
			cfg.Baseline = i
		}
	}
	return verdict.Judge(cfg, arms, table)
}
