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
	s := p.standing(done)
	return s.next, s.decision
}

// standing is where an experiment stands after some trials.
type standing struct {
	history
	schedule Schedule
	result   verdict.Result // of the complete blocks
	err      error          // of the judgement
	next     filewise.Cell
	decision Decision
}

func (p Plan) standing(done []filewise.Trial) standing {
	s := standing{history: p.read(done)}
	s.schedule = s.history.schedule()
	var open *filewise.Cell
	s.result, open, s.err = s.replay(s.schedule)
	pilot, more := s.nextPilot()
	switch why := s.broken(); {
	case more:
		s.next = pilot
	case why != "":
		s.decision = Decision{Ending: Broken, Why: why}
	case s.err != nil:
		s.decision = Decision{Ending: Broken, Why: s.err.Error()}
	case open != nil:
		s.next = *open
	default:
		block := s.result.Blocks + 1
		next := order(p.Seed, block, s.live(s.result, block))
		if s.decision = p.ending(s.history, s.schedule, s.result, len(next)); s.decision.Ending == GoesOn {
			s.next, _ = s.cell(block, next)
		}
	}
	return s
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
